import { hkdfSync } from 'node:crypto'
import { statSync, utimesSync } from 'node:fs'
import { clock } from '#base/clock.ts'
import type { Level } from '#base/log-levels.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Sealer } from '#base/sealer.ts'
import type { KeptItem, KeptPlan } from '#deliver/kept-plan.ts'
import type { PlanClient } from '#deliver/plan-client.ts'
import { PLAN_TYPES } from '#deliver/plan-resource.ts'
import type { LogFields } from '#observe/log/application-log.ts'
import type { PlanItem } from '#plan/item.ts'
import { createSealer, type SessionKeys } from '#workers/sealer.ts'
import type { StateFolder } from './state-folder.ts'

/** A proxy that is killed loses what its controller sent within this time. */
const SAVE_EVERY_MS = 5000

const NAME = 'plan'
/** Part of the key: a file of another form cannot be opened. */
const FORM = 'gatewright kept plan 1'
const KEY_BYTES = 32

export interface PlanFileOptions {
  readonly folder: StateFolder
  readonly keys: SessionKeys
  /** Part of the key: the plan of another Gateway cannot be opened. */
  readonly gatewayUid: string
  /** A plan that the controller confirmed last before this time is not used; undefined: any is. */
  readonly maxAgeMs: number | undefined
  readonly report: (level: Level, message: string, fields: LogFields) => void
}

/** Where the plan of a running proxy is. */
type Source = Pick<PlanClient, 'held' | 'confirmedMs'>

/**
 * Keeps the plan of a proxy in the state folder, Secrets included, for a start without its controller. The file is sealed with a key that is
 * derived from the session key; its modification time is when the controller last confirmed the plan.
 */
export class PlanFile {
  readonly #options: PlanFileOptions
  readonly #sealer: Sealer
  /** Hashes of the plan in the file. */
  #saved: string | undefined
  #stop: (() => void) | undefined

  constructor(options: PlanFileOptions) {
    const { keys, gatewayUid } = options
    const derive = (key: Uint8Array) => new Uint8Array(hkdfSync('sha256', key, gatewayUid, FORM, KEY_BYTES))
    this.#options = options
    this.#sealer = createSealer({
      current: derive(keys.current),
      previous: keys.previous && derive(keys.previous),
    })
  }

  /** @returns undefined if there is none that may be used, with the reason in the log */
  read(): KeptPlan | undefined {
    const { folder, maxAgeMs, report } = this.#options
    const held = folder.read(NAME, (text) => this.#open(text))
    if (held === undefined) return undefined
    const confirmedMs = statSync(folder.pathOf(NAME)).mtimeMs
    if (maxAgeMs === undefined || clock.now() - confirmedMs <= maxAgeMs) return { confirmedMs, held }
    const confirmed = new Date(confirmedMs).toISOString()
    report('warn', 'the kept plan is too old to be used', { confirmed, GATEWRIGHT_KEPT_PLAN_MAX_AGE: `${maxAgeMs} ms` })
    return undefined
  }

  /** Saves every few seconds from now on. @param items of the plan, by key */
  start(source: Source, items: ReadonlyMap<string, PlanItem>): void {
    const save = () => this.#save(source, items)
    const again = (): { cancel(): void } =>
      clock.after(SAVE_EVERY_MS, () => {
        save()
        timer = again()
      })
    let timer = again()
    this.#stop = () => {
      timer.cancel()
      save()
    }
  }

  /** Saves for the last time. */
  close(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  #save({ held, confirmedMs }: Source, items: ReadonlyMap<string, PlanItem>): void {
    if (held === undefined || confirmedMs === undefined) return
    const { folder } = this.#options
    const hashes = PLAN_TYPES.map((type) => held[type].snapshot.hash).join(' ')
    if (hashes !== this.#saved) {
      const entries = PLAN_TYPES.map((type) => [type, keptItems(held[type].versions, items)])
      folder.write(NAME, this.#sealer.seal(Buffer.from(JSON.stringify(Object.fromEntries(entries)))))
      this.#saved = hashes
    }
    try {
      utimesSync(folder.pathOf(NAME), confirmedMs / 1000, confirmedMs / 1000)
    } catch {
      // The folder cannot be written, which it has reported, or the file was removed: the next time it is written again.
      this.#saved = undefined
    }
  }

  /** @throws Error with the reason if the text is not that of a plan of this Gateway */
  #open(text: string): KeptPlan['held'] {
    const bytes = this.#sealer.open(text)
    if (bytes === undefined)
      throw new Error('it was sealed with another session key, for another Gateway or in another form, or is damaged')
    return parseJson(Buffer.from(bytes).toString()) as KeptPlan['held']
  }
}

function keptItems(versions: ReadonlyMap<string, string>, items: ReadonlyMap<string, PlanItem>): readonly KeptItem[] {
  return [...versions].flatMap(([key, version]) => {
    const item = items.get(key)
    return item === undefined ? [] : [{ item, version }]
  })
}
