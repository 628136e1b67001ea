import type { JsonObject } from '#base/json.ts'
import type { ToolAnnotations } from '#exchange/mcp-facts.ts'
import { readAnnotations } from './tool-annotations.ts'
import { digestOfTool } from './tool-digest.ts'

/** What a target has said of a tool in its last list. */
export interface KnownTool {
  readonly annotations: ToolAnnotations
  readonly digest: string
}

interface Remembered extends KnownTool {
  readonly untilMs: number
  /** Of which the digest was computed; '': not kept. */
  readonly text: string
}

/** How long a worker relies on what it knows of a tool. */
const KNOWN_MS = 5 * 60 * 1000
/** How soon the tools of a target are listed again for the same session, because it names a tool that was not in the list. */
const LISTED_AGAIN_MS = 10_000
/** Of a target; others are not remembered. */
export const MAX_KNOWN_TOOLS = 1000
/** Of a target. */
const MAX_LISTINGS = 4096
/** Texts of the tools of a target, in characters. Without its text, the digest of a tool is computed for each list. */
const MAX_TEXTS = 262_144

/** Tools that this worker has seen in lists of targets. Times are monotonic milliseconds. */
export class KnownTools {
  /** By destination and name. */
  readonly #tools = new Map<string, ToolsOfTarget>()
  /** By destination and session. */
  readonly #listings = new Map<string, Map<string, { readonly done: Promise<void>; readonly atMs: number }>>()

  /** @returns undefined: the target has too many tools, and this one is not remembered */
  note(destination: string, name: string, tool: JsonObject, nowMs: number): KnownTool | undefined {
    let tools = this.#tools.get(destination)
    if (tools === undefined) {
      tools = new ToolsOfTarget()
      this.#tools.set(destination, tools)
    }
    return tools.note(name, tool, nowMs)
  }

  find(destination: string, name: string, nowMs: number): KnownTool | undefined {
    return this.#tools.get(destination)?.find(name, nowMs)
  }

  namesOf(destination: string): Iterable<string> {
    return this.#tools.get(destination)?.names ?? []
  }

  /** The target has said that its list has changed. */
  forget(destination: string): void {
    this.#tools.get(destination)?.expire()
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

class ToolsOfTarget {
  readonly #tools = new Map<string, Remembered>()
  /** Total length of their texts. */
  #textLength = 0

  note(name: string, tool: JsonObject, nowMs: number): KnownTool | undefined {
    const before = this.#tools.get(name)
    if (before === undefined && !this.#makeRoom(nowMs)) return undefined
    const text = JSON.stringify(tool)
    const untilMs = nowMs + KNOWN_MS
    if (before?.text === text) {
      const known = { ...before, untilMs }
      this.#tools.set(name, known)
      return known
    }
    this.#textLength -= before?.text.length ?? 0
    const isKept = this.#textLength + text.length <= MAX_TEXTS
    if (isKept) this.#textLength += text.length
    const known = {
      annotations: readAnnotations(tool),
      digest: digestOfTool(tool),
      text: isKept ? text : '',
      untilMs,
    }
    this.#tools.set(name, known)
    return known
  }

  get names(): Iterable<string> {
    return this.#tools.keys()
  }

  find(name: string, nowMs: number): KnownTool | undefined {
    const tool = this.#tools.get(name)
    return tool === undefined || tool.untilMs <= nowMs ? undefined : tool
  }

  /** Keeps texts and digests. */
  expire(): void {
    for (const [name, tool] of this.#tools) this.#tools.set(name, { ...tool, untilMs: 0 })
  }

  #makeRoom(nowMs: number): boolean {
    if (this.#tools.size < MAX_KNOWN_TOOLS) return true
    for (const [name, { untilMs, text }] of this.#tools) {
      if (untilMs > nowMs) continue
      this.#tools.delete(name)
      this.#textLength -= text.length
    }
    return this.#tools.size < MAX_KNOWN_TOOLS
  }
}
