import { Task } from "solid-jobs";

export class Greet extends Task {
  async executeTask(name: string) {
    console.log(`Hello, ${name}!`);
  }
}
