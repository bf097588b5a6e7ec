/** The file that a URL `sqlite:<path>` names. */
export function pathOf(url: string): string {
  return url.slice("sqlite:".length);
}
