import type { ToolAnnotations } from '#exchange/mcp-facts.ts'

/** What a target has said of a tool in its last list. */
export interface KnownTool {
  readonly annotations: ToolAnnotations
}

/** How long a worker relies on what it knows of a tool. */
const KNOWN_MS = 5 * 60 * 1000
/** How soon the tools of a target are listed again for the same session, because it names a tool that was not in the list. */
const LISTED_AGAIN_MS = 10_000
/** Of a target; others are not remembered. */
export const MAX_KNOWN_TOOLS = 1000
/** Of a target. */
const MAX_LISTINGS = 4096

/** Tools that this worker has seen in lists of targets. Times are monotonic milliseconds. */
export class KnownTools {
  /** By destination and name. */
  readonly #tools = new Map<string, Map<string, KnownTool & { readonly untilMs: number }>>()
  /** By destination and session. */
  readonly #listings = new Map<string, Map<string, { readonly done: Promise<void>; readonly atMs: number }>>()

  note(destination: string, name: string, tool: KnownTool, nowMs: number): void {
    let tools = this.#tools.get(destination)
    if (tools === undefined) {
      tools = new Map()
      this.#tools.set(destination, tools)
    }
    if (tools.size >= MAX_KNOWN_TOOLS && !tools.has(name)) {
      for (const [known, { untilMs }] of tools) if (untilMs <= nowMs) tools.delete(known)
      if (tools.size >= MAX_KNOWN_TOOLS) return
    }
    tools.set(name, { ...tool, untilMs: nowMs + KNOWN_MS })
  }

  find(destination: string, name: string, nowMs: number): KnownTool | undefined {
    const tool = this.#tools.get(destination)?.get(name)
    return tool === undefined || tool.untilMs <= nowMs ? undefined : tool
  }

  /** The target has said that its list has changed. */
  forget(destination: string): void {
    this.#tools.delete(destination)
    this.#listings.delete(destination)
  }

  /** Requests of a session wait for the same listing. `list` must not be rejected. */
  listOnce(destination: string, session: string, nowMs: number, list: () => Promise<void>): Promise<void> {
    let listings = this.#listings.get(destination)
    const latest = listings?.get(session)
    if (latest !== undefined && nowMs - latest.atMs < LISTED_AGAIN_MS) return latest.done
    if (listings === undefined) {
      listings = new Map()
      this.#listings.set(destination, listings)
    }
    listings.delete(session)
    if (listings.size >= MAX_LISTINGS) listings.delete(listings.keys().next().value!)
    const done = list()
    listings.set(session, { done, atMs: nowMs })
    return done
  }
}
