import { AcmeFailure } from '#acme/acme-failure.ts'
import type { CertificateKeeper } from '#acme/certificate-keeper.ts'
import { IssuedCertificates } from '#acme/issued-certificates.ts'
import { isKind } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import type { Finding } from '#base/finding.ts'
import { DEFAULT_NAMES } from '#control/context/controller.ts'
import { inventoryOf } from '#control/context/inventory.ts'
import { acmeSetting, wantedCertificates } from '#control/gateways/acme.ts'
import { isOwnClass } from '#control/gateways/resolve-gateways.ts'
import type { LogMessage } from '#observe/log/application-log.ts'
import type { ObjectSource, Statuses } from '#store/store.ts'
import type { StateFolder } from './state-folder.ts'

export interface CertificatesOptions {
  readonly state: StateFolder
  /** The objects without issued certificates. */
  readonly store: ObjectSource & Statuses
  /** Resolves when the newest plan is in force. */
  readonly applied: () => Promise<void>
  /** Gets the problems with the certificates of a Gateway, by its key. */
  readonly found: (gateway: string, findings: readonly Finding[]) => void
  readonly message: LogMessage
  readonly reportBug: (error: unknown) => void
}

/** The certificates that a gateway gets itself by ACME. What asks for them is loaded when the first Gateway wants one. */
export class Certificates {
  /** The objects with the issued certificates as Secrets. */
  readonly store: ObjectSource & Statuses
  readonly #options: CertificatesOptions
  readonly #issued: IssuedCertificates
  #keeper: CertificateKeeper | undefined
  #loading: Promise<void> | undefined
  #isStarted = false
  #isClosed = false

  constructor(options: CertificatesOptions) {
    this.#options = options
    this.#issued = new IssuedCertificates(options.state)
    this.store = this.#issued.addTo(options.store)
  }

  /** Undefined: the key of the account can be neither read nor kept. Then asking for a certificate fails with the reason. */
  thumbprint(): string | undefined {
    try {
      return this.#issued.account.thumbprint
    } catch (error) {
      if (error instanceof AcmeFailure) return undefined
      throw error
    }
  }

  /** Traffic flows: from now on certificates are asked for. */
  start(): void {
    this.#isStarted = true
    this.#update()
  }

  /** After a change of the objects has been translated. */
  changed({ set, removed }: ObjectChange): void {
    if (this.#isStarted && (set.some(matters) || removed.some(matters))) this.#update()
  }

  close(): void {
    this.#isClosed = true
    this.#keeper?.close()
  }

  #update(): void {
    const { store, reportBug } = this.#options
    const objects = store.list()
    if (this.#keeper === undefined && !objects.some(wantsCertificates)) return
    const inventory = inventoryOf(objects)
    const own = inventory
      .all('Gateway')
      .filter(({ spec }) => isOwnClass(inventory, DEFAULT_NAMES, spec.gatewayClassName))
    const wanted = wantedCertificates(own, inventory)
    if (this.#keeper !== undefined) return this.#keeper.update(wanted)
    this.#loading ??= this.#load().catch(reportBug)
  }

  async #load(): Promise<void> {
    const { CertificateKeeper } = await import('#acme/certificate-keeper.ts')
    const { state, applied, found, message, reportBug } = this.#options
    this.#keeper = new CertificateKeeper({
      issued: this.#issued,
      lock: state.pathOf('acme.lock'),
      answering: applied,
      found,
      log: (...line) => message('instance', ...line),
      reportBug,
    })
    if (!this.#isClosed) this.#update()
  }
}

/** A Secret of the user takes the place of an issued one, a class makes a Gateway one of another controller. */
function matters({ kind }: ApiObject): boolean {
  return kind === 'Gateway' || kind === 'GatewayClass' || kind === 'Secret'
}

function wantsCertificates(object: ApiObject): boolean {
  return isKind(object, 'Gateway') && acmeSetting(object) !== undefined
}
