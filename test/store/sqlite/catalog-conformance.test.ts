import { catalogConformance } from "../catalog-conformance.ts";
import { sqliteCatalogHarness } from "./catalog-harness.ts";

catalogConformance({ name: "SQLite", open: sqliteCatalogHarness });
