import { createHash } from 'node:crypto'
import { compareText } from '#base/compare-text.ts'
import { readAccept } from '../http/media-type.ts'
import type { KindRegistry } from '../kinds/registry.ts'
import type { ApiDocument } from '../serve/api-context.ts'
import { rootOf } from './definition-names.ts'
import {
  aggregatedDiscovery,
  coreVersions,
  type DiscoveredGroup,
  discoveredGroups,
  groupDocument,
  groupList,
  resourceList,
} from './discovery.ts'
import { openApiV2 } from './openapi-v2.ts'
import { openApiIndex, openApiV3 } from './openapi-v3.ts'
import { swaggerMessage } from './swagger-message.ts'

const AGGREGATED = 'APIGroupDiscoveryList'
/** The protobuf form of OpenAPI 2.0. Clients written in Go ask for it by its old name, but not all of them can parse that in an answer. */
const SWAGGER_MESSAGE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const SWAGGER_MESSAGES: readonly string[] = [
  SWAGGER_MESSAGE,
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
]
const OPENAPI_V3 = '/openapi/v3'

/** The documents that describe the API to clients. They are made when they are asked for, and kept until the kinds change. */
export class ApiDocuments {
  readonly #kinds: KindRegistry
  readonly #gatewayVersion: string
  #madeFor = 0
  #groups: readonly DiscoveredGroup[] = []
  #versions: ReadonlyMap<string, Required<ApiDocument>> | undefined
  readonly #made = new Map<string, ApiDocument | undefined>()

  constructor(kinds: KindRegistry, gatewayVersion: string) {
    this.#kinds = kinds
    this.#gatewayVersion = gatewayVersion
  }

  /** @returns undefined: there is no such path */
  find(path: string, accept: string | undefined): ApiDocument | undefined {
    if (this.#madeFor !== this.#kinds.version) {
      this.#madeFor = this.#kinds.version
      this.#groups = discoveredGroups(this.#kinds.all)
      this.#versions = undefined
      this.#made.clear()
    }
    if (path === '/openapi/v2') {
      const asMessage = prefersMessage(accept)
      return this.#keep(`${path} ${asMessage}`, () => this.#makeSwagger(asMessage))
    }
    const aggregated = path === '/api' || path === '/apis' ? aggregatedVersion(accept) : undefined
    if (aggregated !== undefined) {
      return this.#keep(`${path} ${aggregated}`, () => this.#makeAggregated(path, aggregated))
    }
    if (path.startsWith(`${OPENAPI_V3}/`)) return this.#openApiV3().get(path.slice(OPENAPI_V3.length + 1))
    return this.#keep(path, () => this.#make(path))
  }

  #keep(key: string, make: () => ApiDocument | undefined): ApiDocument | undefined {
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const made = make()
    if (made !== undefined) this.#made.set(key, made)
    return made
  }

  #make(path: string): ApiDocument | undefined {
    if (path === '/') return json({ paths: this.#paths() })
    if (path === '/version') return json(versionInfo(this.#gatewayVersion))
    if (HEALTH.includes(path)) return { contentType: 'text/plain; charset=utf-8', body: 'ok' }
    if (path === OPENAPI_V3) {
      const documents = [...this.#openApiV3()].map(([name, { etag }]) => [name, etag] as const)
      return json(openApiIndex(new Map(documents)))
    }
    if (path === '/api') return json(coreVersions(this.#groups))
    if (path === '/apis') return json(groupList(this.#groups))
    const [, root, ...parts] = path.split('/')
    const [group, version] = root === 'api' ? ['', parts[0]] : root === 'apis' ? parts : []
    const found = this.#groups.find((each) => each.group === group && (group !== '' || root === 'api'))
    if (found === undefined || group === undefined) return undefined
    if (version === undefined) return json(groupDocument(found))
    const kinds = found.versions.find(([name]) => name === version)?.[1]
    return kinds && json(resourceList(group, version, kinds))
  }

  /** The paths that have documents, for a client that looks around. */
  #paths(): readonly string[] {
    const roots = this.#groups.flatMap(({ group, versions }) => {
      const root = group === '' ? '/api' : `/apis/${group}`
      return [root, ...versions.map(([name]) => `${root}/${name}`)]
    })
    return [...roots, '/apis', ...HEALTH, '/openapi/v2', OPENAPI_V3, '/version'].sort(compareText)
  }

  #makeSwagger(asMessage: boolean): ApiDocument {
    const document = openApiV2(this.#kinds.all, this.#gatewayVersion)
    return asMessage ? withTag(SWAGGER_MESSAGE, swaggerMessage(document)) : json(document)
  }

  /** The documents of OpenAPI 3.0 by path: `api/v1`, `apis/gatewright.dev/v1alpha1`. */
  #openApiV3(): ReadonlyMap<string, Required<ApiDocument>> {
    this.#versions ??= new Map(
      [...Map.groupBy(this.#kinds.all, rootOf)].map(([path, kinds]) => [
        path,
        json(openApiV3(kinds, this.#gatewayVersion)),
      ]),
    )
    return this.#versions
  }

  #makeAggregated(path: string, version: 'v2' | 'v2beta1'): ApiDocument {
    const body = aggregatedDiscovery(this.#groups, version, path === '/api')
    return json(body, `application/json;g=apidiscovery.k8s.io;v=${version};as=${AGGREGATED}`)
  }
}

/** Whether a client prefers OpenAPI 2.0 as protobuf. */
function prefersMessage(accept: string | undefined): boolean {
  const types = readAccept(accept).map(({ type }) => type)
  const first = types.find((type) => type === 'application/json' || SWAGGER_MESSAGES.includes(type))
  return first !== undefined && first !== 'application/json'
}

const HEALTH: readonly string[] = ['/healthz', '/livez', '/readyz']

/** The form of discovery that a client prefers; undefined: one document per group. */
function aggregatedVersion(accept: string | undefined): 'v2' | 'v2beta1' | undefined {
  for (const { type, parameters } of readAccept(accept)) {
    if (type !== 'application/json') continue
    const { as, g, v } = parameters
    if (as === undefined) return undefined
    if (as === AGGREGATED && g === 'apidiscovery.k8s.io' && (v === 'v2' || v === 'v2beta1')) return v
  }
  return undefined
}

/** The version of Kubernetes whose behaviour this API has, as clients compare it with theirs. */
const KUBERNETES = { major: '1', minor: '33' }

function versionInfo(gatewayVersion: string): object {
  const { major, minor } = KUBERNETES
  return {
    major,
    minor,
    gitVersion: `v${major}.${minor}.0+gatewright-${gatewayVersion}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  }
}

function json(value: object, contentType = 'application/json'): Required<ApiDocument> {
  return withTag(contentType, `${JSON.stringify(value)}\n`)
}

function withTag(contentType: string, body: string | Uint8Array): Required<ApiDocument> {
  return { contentType, body, etag: createHash('sha256').update(body).digest('hex').toUpperCase() }
}
