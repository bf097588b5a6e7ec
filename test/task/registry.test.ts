import { afterEach, describe, expect, test } from "bun:test";
import { clearRegistry, registeredTasks, registerTasks, taskNamed } from "../../src/task/registry.ts";
import { Task } from "../../src/task/task.ts";
import type { TaskClass } from "../../src/task/types.ts";

afterEach(clearRegistry);

function taskCalled(name: string): TaskClass {
  return class extends Task {
    static options = { name };
    executeTask(): void {}
  };
}

describe("the registry", () => {
  test("knows tasks by name, and nothing else", () => {
    const mail = taskCalled("mail");
    registerTasks([{ taskClass: mail, origin: "/a.ts" }]);
    expect(taskNamed("mail")?.taskClass).toBe(mail);
    expect(taskNamed("toString")).toBeUndefined();
  });

  test("takes a class that is met twice once", () => {
    const mail = taskCalled("mail");
    registerTasks([
      { taskClass: mail, origin: "/a.ts" },
      { taskClass: mail, origin: "/index.ts" },
    ]);
    registerTasks([{ taskClass: mail, origin: "/other.ts" }]);
    expect(registeredTasks().map(({ name }) => name)).toEqual(["mail"]);
  });

  test("refuses two classes with one name, naming both files, and then knows neither", () => {
    const clash = () =>
      registerTasks([
        { taskClass: taskCalled("mail"), origin: "/a.ts" },
        { taskClass: taskCalled("mail"), origin: "/b.ts" },
      ]);
    expect(clash).toThrow('two different task classes are named "mail": one in /a.ts, one in /b.ts');
    expect(registeredTasks()).toEqual([]);
  });

  test("refuses two classes with one name in one file", () => {
    const origin = "/a.ts";
    const clash = () =>
      registerTasks([
        { taskClass: taskCalled("mail"), origin },
        { taskClass: taskCalled("mail"), origin },
      ]);
    expect(clash).toThrow('named "mail"');
  });

  test("refuses a class whose name an earlier file has", () => {
    const first = taskCalled("mail");
    registerTasks([{ taskClass: first, origin: "/a.ts" }]);
    expect(() => registerTasks([{ taskClass: taskCalled("mail"), origin: "/b.ts" }])).toThrow("/b.ts");
    expect(taskNamed("mail")?.taskClass).toBe(first);
  });

  test("takes a file that is loaded again in place of what it had", () => {
    registerTasks([
      { taskClass: taskCalled("mail"), origin: "/a.ts" },
      { taskClass: taskCalled("gone"), origin: "/a.ts" },
      { taskClass: taskCalled("other"), origin: "/b.ts" },
    ]);
    const renewed = taskCalled("mail");
    registerTasks([{ taskClass: renewed, origin: "/a.ts" }]);
    expect(taskNamed("mail")?.taskClass).toBe(renewed);
    expect(taskNamed("gone")).toBeUndefined();
    expect(taskNamed("other")).toBeDefined();
  });

  test("refuses what is no task, and abstract bases", () => {
    class Plain {}
    abstract class Base extends Task {}
    expect(() => registerTasks([{ taskClass: Plain as never, origin: "/a.ts" }])).toThrow("got Plain");
    expect(() => registerTasks([{ taskClass: Base as never, origin: "/a.ts" }])).toThrow("got Base");
    expect(() => registerTasks([{ taskClass: Task as never, origin: "/a.ts" }])).toThrow("got Task");
  });

  test("refuses bad options at registration", () => {
    const odd = Object.assign(taskCalled("odd"), { options: { name: "odd", chanel: "x" } }) as TaskClass;
    expect(() => registerTasks([{ taskClass: odd, origin: "/a.ts" }])).toThrow('did you mean "channel"?');
  });
});
