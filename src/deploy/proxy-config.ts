import type { RawConfig } from '#api/raw-config.ts'
import { parseQuantity } from '#base/byte-size.ts'
import { isJsonObject } from '#patch/json-object.ts'
import type { TypedFields } from './typed-fields.ts'

/** Limits of the container as it will run, overlays included. */
export type Limits = { readonly [resource in 'cpu' | 'memory']?: number }

/** A process without a limit would have as many workers as its node has processors, whatever the node runs besides. */
const WORKERS = 2
const MAX_WORKERS = 256

/** Of the memory limit, the heaps of the workers together; a quarter is for buffered bodies, and the rest for the runtime. */
const HEAP_SHARE = 1 / 2
const MIN_HEAP_MEBIBYTES = 64
const MEBIBYTE = 2 ** 20

/** Limits of a container, in processors and bytes; those that are no quantities are left to the API server. */
export function readLimits(limits: unknown): Limits {
  const { cpu, memory } = (isJsonObject(limits) ? limits : {}) as { readonly [name: string]: unknown }
  const read = (value: unknown) => {
    const number = parseQuantity(String(value ?? ''))
    return number > 0 ? number : undefined
  }
  const [processors, bytes] = [read(cpu), read(memory)]
  return { ...(processors && { cpu: processors }), ...(bytes && { memory: bytes }) }
}

/** The content of `config.yaml`: `rawConfig`, with the typed fields laid over it (specification 1, 2.5). */
export function proxyConfig(
  { rawConfig, logging }: Pick<TypedFields, 'rawConfig' | 'logging'>,
  limits: Limits,
): RawConfig {
  // Parameters with other members are not in use (decision A-121).
  const raw: RawConfig = rawConfig
  const merged = { ...raw.logging, ...logging }
  return {
    ...raw,
    ...(Object.keys(merged).length > 0 && { logging: merged }),
    workers: raw.workers ?? workersOf(limits),
  }
}

function workersOf({ cpu }: Limits): number {
  return cpu === undefined ? WORKERS : Math.min(Math.ceil(cpu), MAX_WORKERS)
}

/** Heap limit of each worker in MiB; undefined: the runtime decides. */
export function heapMebibytes({ workers = WORKERS }: RawConfig, { memory }: Limits): number | undefined {
  if (memory === undefined) return undefined
  return Math.max(MIN_HEAP_MEBIBYTES, Math.floor((memory * HEAP_SHARE) / MEBIBYTE / workers))
}
