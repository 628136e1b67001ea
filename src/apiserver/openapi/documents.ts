import { createHash } from 'node:crypto'
import type { ApiDocument } from '../http/api-context.ts'
import { readAccept } from '../http/media-type.ts'
import type { KindRegistry } from '../kinds/registry.ts'
import {
  aggregatedDiscovery,
  coreVersions,
  type DiscoveredGroup,
  discoveredGroups,
  groupDocument,
  groupList,
  resourceList,
} from './discovery.ts'

const AGGREGATED = 'APIGroupDiscoveryList'

/** The documents that describe the API to clients. They are made when they are asked for, and kept until the kinds change. */
export class ApiDocuments {
  readonly #kinds: KindRegistry
  readonly #gatewayVersion: string
  #madeFor = 0
  #groups: readonly DiscoveredGroup[] = []
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
      this.#made.clear()
    }
    const aggregated = path === '/api' || path === '/apis' ? aggregatedVersion(accept) : undefined
    const key = `${path} ${aggregated}`
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const made = aggregated === undefined ? this.#make(path) : this.#makeAggregated(path, aggregated)
    if (made !== undefined) this.#made.set(key, made)
    return made
  }

  #make(path: string): ApiDocument | undefined {
    if (path === '/version') return json(versionInfo(this.#gatewayVersion))
    if (HEALTH.includes(path)) return { contentType: 'text/plain; charset=utf-8', body: 'ok' }
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

  #makeAggregated(path: string, version: 'v2' | 'v2beta1'): ApiDocument {
    const body = aggregatedDiscovery(this.#groups, version, path === '/api')
    return json(body, `application/json;g=apidiscovery.k8s.io;v=${version};as=${AGGREGATED}`)
  }
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

function json(value: object, contentType = 'application/json'): ApiDocument {
  const body = `${JSON.stringify(value)}\n`
  return { contentType, body, etag: createHash('sha256').update(body).digest('hex').toUpperCase() }
}
