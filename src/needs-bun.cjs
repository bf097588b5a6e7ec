// What Node gets in place of the library, whose files are TypeScript for Bun.
throw new Error(
  `solid-jobs needs Bun 1.4 or later, but was loaded by Node ${process.version}. ` +
    "Install Bun (npm install --save-dev bun) and start the program with it: " +
    "bun your-program.ts, or bunx --bun your-command.",
);
