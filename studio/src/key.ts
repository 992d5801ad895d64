// The key of a service that wants one: asked for when it answers 401, kept until the tab is closed.

const NAME = "regard-key";

/** Asks the reader for a key; null if they would rather not. */
export type Ask = (isWrong: boolean) => Promise<string | null>;

let ask: Ask = () => Promise.resolve(null);
let asking: Promise<string | null> | null = null;

export function whoAsks(chosen: Ask): void {
  ask = chosen;
}

/** What a header can carry. */
export const isPossible = (key: string): boolean => /^[\x21-\x7e]{1,500}$/.test(key);

const kept = (): string | null => sessionStorage.getItem(NAME);

/** fetch, with the key; whoever asks at the same time waits for the same answer. */
export async function fetched(path: string, wish: RequestInit = {}): Promise<Response> {
  for (;;) {
    const key = kept();
    const headers = new Headers(wish.headers);
    if (key !== null) headers.set("Authorization", `Bearer ${key}`);
    const answer = await fetch(path, { ...wish, headers });
    if (answer.status !== 401) return answer;
    if (kept() !== key) continue; // another request has brought a key meanwhile
    asking ??= ask(key !== null).finally(() => {
      asking = null;
    });
    const given = await asking;
    if (given === null) return answer;
    sessionStorage.setItem(NAME, given);
  }
}
