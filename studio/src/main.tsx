import { render } from "preact";
import { App } from "./app";
import { readDocument } from "./inlined";
import "./style/ground.css";
import "./style/controls.css";
import "./style/views.css";
import "./style/training.css";
import "./style/places.css";
import "./style/saved.css";

// What a saved page brings with it is read before anything is drawn.
await readDocument();
const place = document.getElementById("studio");
if (place !== null) render(<App />, place);
