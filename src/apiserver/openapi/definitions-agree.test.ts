import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { StructuralSchema } from '#api/definitions/structural-schema.ts'
import { KINDS } from '#api/kinds.ts'
import { parseJson } from '#base/parse-json.ts'
import { customKinds } from '../custom-resources/custom-kind.ts'
import type { DefinitionSpec } from '../custom-resources/definition-schema.ts'
import { KindRegistry } from '../kinds/registry.ts'
import { builtInKinds } from '../platform-rules/built-in-kinds.ts'
import { ApiDocuments } from './documents.ts'
import { swaggerSchema } from './openapi-v2.ts'

const CRDS = join(import.meta.dirname, '../../../install/crds')
const served = builtInKinds()
const documents = new ApiDocuments(new KindRegistry(served), '1.2.3')
// biome-ignore lint/suspicious/noExplicitAny: tests look into all documents
const read = (path: string): any => parseJson(String(documents.find(path, undefined)!.body))

/** What a client of the gateway and a client of a cluster with the CustomResourceDefinitions see must be the same. */
test.each(KINDS.filter(({ own }) => own))(
  '$kind: the definition and what is served agree',
  ({ kind, group, plural }) => {
    const { spec } = parse(readFileSync(join(CRDS, `${group}_${plural}.yaml`), 'utf8')) as { spec: DefinitionSpec }
    const [version] = spec.versions
    const { required, properties } = version!.schema!.openAPIV3Schema as {
      required: readonly string[]
      properties: Record<string, object>
    }
    const name = `dev.gatewright.v1alpha1.${kind}`
    const v3 = read(`/openapi/v3/apis/${group}/v1alpha1`).components.schemas[name]
    const v2 = read('/openapi/v2').definitions[name]
    expect([v3.required, v2.required]).toEqual([required, required])
    for (const part of ['spec', 'status']) {
      // Comparing texts is much faster than `toEqual` for schemas of this size.
      expect(JSON.stringify(v3.properties[part]) === JSON.stringify(properties[part]), `${part} in OpenAPI 3.0`).toBe(
        true,
      )
      const converted = JSON.stringify(swaggerSchema(properties[part] as StructuralSchema))
      expect(JSON.stringify(v2.properties[part]) === converted, `${part} in OpenAPI 2.0`).toBe(true)
    }
    const { schema: _, admit: __, ...facts } = served.find((each) => each.kind === kind)!
    expect(customKinds(spec)[0]).toMatchObject(facts)
  },
)
