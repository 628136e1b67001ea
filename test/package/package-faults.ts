/** As `npm pack --json` lists it. */
export interface PackedFile {
  readonly path: string
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
  'install/schemas/gatewright.schema.json',
  'src/cli/init/http.yaml',
]

/** @param bytes of the archive */
export function packageFaults(files: readonly PackedFile[], bytes: number): readonly string[] {
  const paths = new Set(files.map(({ path }) => path))
  return [
    ...(bytes > MAX_BYTES ? [`the archive has ${bytes} bytes, more than ${MAX_BYTES}`] : []),
    ...REQUIRED.filter((path) => !paths.has(path)).map((path) => `${path} is missing`),
    ...[...paths].filter((path) => /\.(?:ts|mts|tsx)$|(?:^|\/)test\//.test(path)).map((path) => `${path} is packed`),
  ]
}
