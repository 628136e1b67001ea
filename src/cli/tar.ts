/** An entry of an archive: a file with `bytes`, a symbolic link with `target`, or else a folder. */
export interface TarEntry {
  /** Relative, with slashes, without one at the end. */
  readonly path: string
  /** Permissions; by default 0755 for folders and 0644 for files. */
  readonly mode?: number
  /** Ids of the user and of the group; by default 0, root. */
  readonly owner?: number
  readonly bytes?: Uint8Array
  readonly target?: string
}

const BLOCK = 512
/** Sizes of the fields of a header (POSIX.1-1988, "ustar"). */
const NAME_BYTES = 100
const PREFIX_BYTES = 155
const MAX_TARGET_BYTES = 100
const CHECKSUM_OFFSET = 148

/** An archive in the format ustar. The same entries make the same bytes: they are sorted, and have no times. */
export function tar(entries: readonly TarEntry[]): Buffer {
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const blocks = sorted.flatMap((entry) => {
    const bytes = entry.bytes ?? Buffer.alloc(0)
    return [header(entry), bytes, Buffer.alloc(-bytes.length & (BLOCK - 1))]
  })
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)])
}

function header({ path, mode, owner = 0, bytes, target }: TarEntry): Buffer {
  const isFolder = bytes === undefined && target === undefined
  const [prefix, name] = splitPath(isFolder ? `${path}/` : path)
  if (target !== undefined && Buffer.byteLength(target) > MAX_TARGET_BYTES) {
    throw new Error(`${path}: the target of this link is too long for an archive`)
  }
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0)
  block.write(octal(mode ?? (isFolder ? 0o755 : 0o644), 8), 100)
  block.write(octal(owner, 8), 108) // user
  block.write(octal(owner, 8), 116) // group
  block.write(octal(bytes?.length ?? 0, 12), 124)
  block.write(octal(0, 12), 136) // time
  block.write(' '.repeat(8), CHECKSUM_OFFSET)
  block.write(isFolder ? '5' : target === undefined ? '0' : '2', 156)
  block.write(target ?? '', 157)
  block.write('ustar\x0000', 257)
  block.write(prefix, 345)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 7)} `, CHECKSUM_OFFSET)
  return block
}

/** A long path is split at a slash, which no field contains. */
function splitPath(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= NAME_BYTES) return ['', path]
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (Buffer.byteLength(name) <= NAME_BYTES && Buffer.byteLength(prefix) <= PREFIX_BYTES && name !== '') {
      return [prefix, name]
    }
  }
  throw new Error(`${path}: this path is too long for an archive`)
}

/** @param bytes of the field, with the zero at its end */
function octal(value: number, bytes: number): string {
  return `${value.toString(8).padStart(bytes - 1, '0')}\0`
}
