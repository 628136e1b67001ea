import type { Step } from './recorded.ts'

type Change = Extract<Step, { readonly does: 'write' | 'truncate' }>
type Naming = Extract<Step, { readonly does: 'create' | 'rename' | 'unlink' }>

interface File {
  /** What is certainly on the disk. */
  durable: Buffer
  /** Later changes, which the disk may have done or not. */
  pending: Change[]
}

/** The unit that a disk writes as a whole. */
const SECTOR_BYTES = 512

/**
 * What a disk has when its power fails. Only what was synced is certain: of later writes, any sectors may be there, and of later names in a
 * folder, the first ones. Disks and file systems may do less harm, and this is the most that POSIX allows.
 */
export class Disk {
  readonly #folder: string
  /** By path, as processes see them. */
  readonly #files = new Map<string, File>()
  /** As they certainly are on the disk. */
  #durableNames = new Map<string, File>()
  #pendingNames: { readonly step: Naming; readonly file: File }[] = []

  constructor(folder: string) {
    this.#folder = folder
  }

  take(step: Step): void {
    switch (step.does) {
      case 'create':
        this.#files.set(step.path, { durable: Buffer.alloc(0), pending: [] })
        return this.#name(step, step.path)
      case 'rename':
        this.#name(step, step.path)
        this.#files.set(step.to, this.#file(step.path))
        return void this.#files.delete(step.path)
      case 'unlink':
        this.#name(step, step.path)
        return void this.#files.delete(step.path)
      case 'write':
      case 'truncate':
        return void this.#file(step.path).pending.push(step)
      case 'sync':
        return this.#sync(step.path)
    }
  }

  #name(step: Naming, path: string): void {
    this.#pendingNames.push({ step, file: this.#file(path) })
  }

  #file(path: string): File {
    const file = this.#files.get(path)
    if (file === undefined) throw new Error(`${path} was not created`)
    return file
  }

  #sync(path: string): void {
    if (path === this.#folder) {
      this.#durableNames = this.#namesAfter(this.#pendingNames.length)
      this.#pendingNames = []
    } else {
      const file = this.#file(path)
      file.durable = withChanges(file.durable, file.pending)
      file.pending = []
    }
  }

  #namesAfter(count: number): Map<string, File> {
    const names = new Map(this.#durableNames)
    for (const { step, file } of this.#pendingNames.slice(0, count)) {
      if (step.does === 'create') names.set(step.path, file)
      else names.delete(step.path)
      if (step.does === 'rename') names.set(step.to, file)
    }
    return names
  }

  /** The files after a loss of power now. @param random whole numbers below a bound */
  afterPowerLoss(random: (bound: number) => number): ReadonlyMap<string, Buffer> {
    const names = this.#namesAfter(random(this.#pendingNames.length + 1))
    return new Map([...names].map(([path, file]) => [path, contentAfterPowerLoss(file, random)]))
  }
}

function withChanges(content: Buffer, changes: readonly Change[]): Buffer {
  const ends = changes.map((change) => (change.does === 'write' ? change.at + change.bytes.length : change.length))
  const next = Buffer.alloc(Math.max(content.length, ...ends))
  content.copy(next)
  let length = content.length
  for (const [index, change] of changes.entries()) {
    if (change.does === 'write') {
      change.bytes.copy(next, change.at)
      length = Math.max(length, ends[index]!)
    } else {
      next.fill(0, change.length)
      length = change.length
    }
  }
  return next.subarray(0, length)
}

/** Sometimes all later changes are there, sometimes none, and else any. */
function contentAfterPowerLoss({ durable, pending }: File, random: (bound: number) => number): Buffer {
  const share = random(5)
  const isThere = () => random(4) < share
  const sectors = pending.flatMap((change) => (change.does === 'truncate' ? [change] : sectorsOf(change)))
  return withChanges(durable, sectors.filter(isThere))
}

function sectorsOf(change: Extract<Change, { readonly does: 'write' }>): Change[] {
  const sectors: Change[] = []
  const end = change.at + change.bytes.length
  for (let at = change.at; at < end; at = nextSector(at)) {
    const bytes = change.bytes.subarray(at - change.at, Math.min(end, nextSector(at)) - change.at)
    sectors.push({ ...change, at, bytes })
  }
  return sectors
}

function nextSector(at: number): number {
  return (Math.floor(at / SECTOR_BYTES) + 1) * SECTOR_BYTES
}
