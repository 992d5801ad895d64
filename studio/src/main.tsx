import { render } from "preact";
import { App } from "./app";
import "./style/ground.css";
import "./style/controls.css";
import "./style/views.css";
import "./style/training.css";
import "./style/places.css";

const place = document.getElementById("studio");
if (place !== null) render(<App />, place);
