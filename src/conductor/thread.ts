/** The entry of every thread of a node whose program runs from its sources. */

import { takeRole } from "./thread-role.ts";

void takeRole();
