import type { JSX } from "preact";
import type { Address } from "../address";
import type { Theme } from "../colours";
import type { Say } from "../words";
export interface Report {
  title: string;
}
export function ReportView({
  report,
}: {
  address: Address;
  say: Say;
  theme: Theme;
  report: Report;
}): JSX.Element {
  return <p>{report.title}</p>;
}
