import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFileRegistry, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'

/**
 * The official definitions of OTLP, read and written by `@bufbuild/protobuf`; `test/interop/observe/go/definitions` writes the file from
 * the published Go module.
 */
const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, readFileSync(join(import.meta.dirname, 'definitions', 'otlp.binpb'))),
)

/** A message as JSON, in the form of protobuf. @param name such as `opentelemetry.proto.trace.v1.Span` */
export function decodeOfficial(name: string, bytes: Uint8Array): JsonObject {
  const schema = registry.getMessage(name)
  if (schema === undefined) throw new Error(`no definition of ${name}`)
  return toJson(schema, fromBinary(schema, bytes), { registry }) as JsonObject
}

export function encodeOfficial(name: string, value: JsonObject): Uint8Array {
  const schema = registry.getMessage(name)
  if (schema === undefined) throw new Error(`no definition of ${name}`)
  return toBinary(schema, fromJson(schema, value, { registry }))
}
