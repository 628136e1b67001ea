import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

/** The package carries the published definitions; none of its code is loaded. */
const DEFINITIONS = join(dirname(fileURLToPath(import.meta.resolve('@grpc/grpc-js-xds/package.json'))), 'deps')
const ROOTS = ['envoy-api', 'googleapis', 'protoc-gen-validate', 'xds']
/** Definitions with members that the package does not have yet. */
const NEWER = join(import.meta.dirname, 'definitions')

/**
 * A service of Envoy's protocols, read and written by `protobufjs`: `envoy.service.auth.v3.Authorization`.
 * @param file the definition, such as `envoy/service/auth/v3/external_auth.proto`
 */
export function envoyService(file: string, name: string): ServiceClientConstructor['service'] {
  const options = {
    longs: Number,
    defaults: true,
    oneofs: true,
    includeDirs: [NEWER, ...ROOTS.map((root) => join(DEFINITIONS, root))],
  }
  let found: unknown = loadPackageDefinition(loadSync(file, options))
  for (const part of name.split('.')) found = (found as Readonly<Record<string, unknown>>)[part]
  return (found as ServiceClientConstructor).service
}
