import addText from "../../../lua/transfer-add.lua" with { type: "text" };
import pageText from "../../../lua/transfer-page.lua" with { type: "text" };
import removeText from "../../../lua/transfer-remove.lua" with { type: "text" };
import { defineScript } from "./script.ts";

/** The scripts of moving jobs between stores; each file's head says what it does, takes and returns. */
export const transferScripts = {
  add: defineScript("transfer-add", addText),
  page: defineScript("transfer-page", pageText),
  remove: defineScript("transfer-remove", removeText),
};
