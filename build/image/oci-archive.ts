import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { type TarEntry, tar } from '#cli/tar.ts'

/** What `config` of an image configuration may have (OCI image specification 1.1). */
export interface ImageConfig {
  readonly User?: string
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly Env?: readonly string[]
  readonly WorkingDir?: string
  readonly ExposedPorts?: Readonly<Record<string, object>>
  readonly Labels?: Readonly<Record<string, string>>
}

export interface Layer {
  /** What it is, for the history of the image. */
  readonly name: string
  readonly entries: readonly TarEntry[]
}

export interface ImageInput {
  /** What `ctr images import` and `docker load` call the image, such as `ghcr.io/gatewright/gatewright:0.1.0`. */
  readonly reference: string
  readonly layers: readonly Layer[]
  readonly config: ImageConfig
  /** 1 to 9. */
  readonly compression?: number
}

export interface Image {
  /** A tar file in the OCI image layout. */
  readonly archive: Buffer
  /** Of the manifest, `sha256:...`. */
  readonly digest: string
  /** Bytes of the layers. */
  readonly layers: readonly { readonly name: string; readonly unpacked: number; readonly compressed: number }[]
}

const OCI = 'application/vnd.oci.image'
const EPOCH = '1970-01-01T00:00:00Z'

interface Blob {
  readonly descriptor: { readonly mediaType: string; readonly digest: string; readonly size: number }
  readonly bytes: Buffer
}

/** Makes an image of one platform, that of this process. The same input makes the same image. */
export function ociArchive({ reference, layers, config, compression = 9 }: ImageInput): Image {
  const unpacked = layers.map(({ entries }) => tar(entries))
  const compressed = unpacked.map((bytes) => blob(`${OCI}.layer.v1.tar+gzip`, gzipSync(bytes, { level: compression })))
  const configuration = jsonBlob(`${OCI}.config.v1+json`, {
    created: EPOCH,
    architecture: architecture(),
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: unpacked.map(digestOf) },
    history: layers.map(({ name }) => ({ created: EPOCH, created_by: name })),
  })
  const manifest = jsonBlob(`${OCI}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: configuration.descriptor,
    layers: compressed.map(({ descriptor }) => descriptor),
  })
  const index = {
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests: [
      {
        ...manifest.descriptor,
        platform: { architecture: architecture(), os: 'linux' },
        annotations: { 'io.containerd.image.name': reference, 'org.opencontainers.image.ref.name': reference },
      },
    ],
  }
  return {
    archive: tar([
      { path: 'oci-layout', bytes: json({ imageLayoutVersion: '1.0.0' }) },
      { path: 'index.json', bytes: json(index) },
      ...blobEntries([...compressed, configuration, manifest]),
    ]),
    digest: manifest.descriptor.digest,
    layers: layers.map(({ name }, at) => ({
      name,
      unpacked: unpacked[at]!.length,
      compressed: compressed[at]!.bytes.length,
    })),
  }
}

/** The name that OCI has for the processor of this process. */
function architecture(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch
}

/** Two equal layers are one blob. */
function blobEntries(blobs: readonly Blob[]): readonly TarEntry[] {
  const files = new Map(blobs.map(({ descriptor, bytes }) => [descriptor.digest.replace('sha256:', ''), bytes]))
  return [
    { path: 'blobs' },
    { path: 'blobs/sha256' },
    ...[...files].map(([name, bytes]) => ({ path: `blobs/sha256/${name}`, bytes })),
  ]
}

function jsonBlob(mediaType: string, value: unknown): Blob {
  return blob(mediaType, json(value))
}

function blob(mediaType: string, bytes: Buffer): Blob {
  return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length }, bytes }
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
