import { Task, type TaskOptions } from "solid-jobs";

export class ResizeImage extends Task {
  static options = { name: "ResizeImage", channel: "images" } satisfies TaskOptions;

  async executeTask(path: string, width: number) {
    console.log(`resizing ${path} to ${width}`);
  }
}
