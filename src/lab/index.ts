export type { CapturedJob } from "../task/types.ts";
export { type LabMode, lab } from "./lab.ts";
