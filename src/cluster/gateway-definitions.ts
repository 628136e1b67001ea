import { GATEWAY_GROUP } from '#api/groups.ts'
import { KINDS } from '#api/kinds.ts'
import { clock } from '#base/clock.ts'
import { sameData } from '#base/incremental/same-data.ts'
import type { DefinitionVersions } from '#control/status/supported-version.ts'
import type { ApiClient } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { definitionPath } from './definition-path.ts'
import { METADATA_OF_OBJECT } from './kind-watch.ts'
import { membersOf, textOf } from './kubeconfig.ts'

const NAMES = KINDS.filter(({ group }) => group === GATEWAY_GROUP).map(({ group, plural }) => `${plural}.${group}`)
/** The annotation with the version of the Gateway API. */
export const BUNDLE_VERSION = 'gateway.networking.k8s.io/bundle-version'
const AGAIN_MS = 60_000

export interface GatewayDefinitionsOptions {
  readonly client: Pick<ApiClient, 'get'>
  /** Called when the versions have changed. @param versions undefined: they may not be read */
  readonly changed: (versions: DefinitionVersions | undefined) => void
  /** Called with a message for the log. */
  readonly failed: (message: string) => void
  readonly reportBug: (error: unknown) => void
}

/** The versions of the definitions of the Gateway API. Each is read by its name every minute, because the right to list them shows all of a cluster. */
export class GatewayDefinitions implements Disposable {
  /** Resolves when they were read once, or could not be read. */
  readonly looked: Promise<void>
  readonly #options: GatewayDefinitionsOptions
  #known: DefinitionVersions | undefined
  #failure: string | undefined
  #next: { cancel(): void } | undefined
  #isClosed = false

  constructor(options: GatewayDefinitionsOptions) {
    this.#options = options
    this.looked = this.#look()
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#next?.cancel()
  }

  async #look(): Promise<void> {
    try {
      const versions = await this.#read()
      this.#failure = undefined
      this.#note(versions)
    } catch (error) {
      this.#fail(error)
    }
    if (!this.#isClosed) this.#next = clock.after(AGAIN_MS, () => void this.#look())
  }

  async #read(): Promise<DefinitionVersions> {
    const read = NAMES.map(async (name) => {
      const { status, body } = await this.#options.client.get(definitionPath(name), { accept: METADATA_OF_OBJECT })
      return status === 200 ? ([name, versionIn(body.metadata)] as const) : undefined
    })
    return new Map((await Promise.all(read)).filter((each) => each !== undefined))
  }

  /** While the API does not answer, what was read last holds. */
  #fail(error: unknown): void {
    if (this.#isClosed) return
    if (!(error instanceof ApiUnreadable)) return this.#options.reportBug(error)
    if (error.status === 403) this.#note(undefined)
    if (error.message !== this.#failure) this.#options.failed(error.message)
    this.#failure = error.message
  }

  #note(versions: DefinitionVersions | undefined): void {
    if (this.#isClosed || sameData(toData(versions), toData(this.#known))) return
    this.#known = versions
    this.#options.changed(versions)
  }
}

function versionIn(metadata: unknown): string {
  return textOf(membersOf(membersOf(metadata).annotations)[BUNDLE_VERSION]) ?? ''
}

function toData(versions: DefinitionVersions | undefined): unknown {
  return versions && Object.fromEntries(versions)
}
