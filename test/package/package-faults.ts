/** As `npm pack --json` lists it. */
export interface PackedFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
}

const MAX_BYTES = 3e6
const REQUIRED = [
  'LICENSE',
  'README.md',
  'bin/gatewright',
  'dist/main.js',
  'dist/main.js.map',
  'dist/proxy-worker.js',
  'dist/proxy-worker.js.map',
  'dist/quickstart.js',
  'dist/sbom.cdx.json',
  'dist/third-party-notices.txt',
  'examples/quickstart/gateway.yaml',
  'install/charts/gatewright/files/rights.yaml',
  'install/schemas/gatewright.schema.json',
  'src/cli/init/http.yaml',
]

/** All that may be packed. Each file must match exactly one. */
const PLACES: Readonly<Record<string, RegExp>> = {
  'at the top': /^(?:package\.json|LICENSE|README\.md|CHANGELOG\.md)$/,
  bin: /^bin\/[\w.-]+$/,
  dist: /^dist\/[\w.-]+\.(?:js|js\.map|json|txt)$/,
  examples: /^examples\/[\w-]+\/(?:[\w./-]+\.yaml|README\.md)$/,
  install: /^install\/(?:schemas\/[\w.]+\.json|charts\/gatewright\/files\/rights\.yaml|systemd\/[\w.]+\.service)$/,
  'configurations of init': /^src\/cli\/init\/\w+\.yaml$/,
  'examples of fields': /^src\/(?:policies|protocols|api)\/[\w./-]*example\.yaml$/,
}

/** A line for each place: files and bytes. */
export function packageListing(files: readonly PackedFile[]): readonly string[] {
  return Object.entries(PLACES).map(([place, pattern]) => {
    const inside = files.filter(({ path }) => pattern.test(path))
    const megabytes = inside.reduce((sum, { size }) => sum + size, 0) / 1e6
    return `${place.padEnd(24)}${String(inside.length).padStart(4)} files ${megabytes.toFixed(2).padStart(6)} MB`
  })
}

/** @param bytes of the archive */
export function packageFaults(files: readonly PackedFile[], bytes: number): readonly string[] {
  const paths = new Set(files.map(({ path }) => path))
  return [
    ...(bytes > MAX_BYTES ? [`the archive has ${bytes} bytes, more than ${MAX_BYTES}`] : []),
    ...REQUIRED.filter((path) => !paths.has(path)).map((path) => `${path} is missing`),
    ...[...paths]
      .filter((path) => placesOf(path) !== 1)
      .map((path) => `${path} is packed, and has no place in the package`),
    ...Object.entries(PLACES).flatMap(([place, pattern]) =>
      [...paths].some((path) => pattern.test(path)) ? [] : [`nothing is packed of: ${place}`],
    ),
  ]
}

function placesOf(path: string): number {
  return Object.values(PLACES).filter((pattern) => pattern.test(path)).length
}
