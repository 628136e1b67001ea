import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type ApiObject, keyOf, objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { parseJson } from '#base/parse-json.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { ObjectSource, Statuses } from '#store/store.ts'
import { AccountKey } from './account-key.ts'
import { AcmeFailure } from './acme-failure.ts'

const ACCOUNT_FILE = 'acme-account.pem'
const CERTIFICATES_FILE = 'acme-certificates.json'

/** Where an account and its certificates are kept: files that only their owner can read. */
export interface AcmeFiles {
  pathOf(name: string): string
  read<T>(name: string, parse: (text: string) => T): T | undefined
  write(name: string, text: string): void
}

/** A certificate that a server issued. */
export interface Issued {
  /** `namespace/name` */
  readonly secret: string
  readonly directory: string
  readonly hostnames: readonly string[]
  /** PEM, with the chain. */
  readonly certificate: string
  /** PEM. */
  readonly key: string
}

/** The account, and the certificates that servers issued, as Secrets. They outlive the process. */
export class IssuedCertificates {
  readonly #files: AcmeFiles
  #account: AccountKey | undefined
  #issued: ReadonlyMap<string, Issued>
  #changed: (key: string) => void = () => {}

  constructor(files: AcmeFiles) {
    this.#files = files
    this.#issued = this.#read()
  }

  /** The key of the account. The first call makes it. @throws AcmeFailure if it can be neither read nor kept */
  get account(): AccountKey {
    try {
      this.#account ??= this.#openAccount()
      return this.#account
    } catch (error) {
      throw new AcmeFailure(`the key of the account: ${(error as Error).message}`)
    }
  }

  /** By `namespace/name` of the Secret. */
  find(secret: string): Issued | undefined {
    return this.#issued.get(secret)
  }

  /** Another process may have written certificates. */
  reread(): void {
    // What could not be written is only here.
    this.#replace(new Map([...this.#issued, ...this.#read()]))
  }

  put(issued: Issued): void {
    const all = new Map(this.#issued).set(issued.secret, issued)
    this.#files.write(CERTIFICATES_FILE, `${JSON.stringify([...all.values()], undefined, 2)}\n`)
    this.#replace(all)
  }

  /**
   * The objects of a store, with the Secrets of the certificates that are wanted or were issued. An object of the store with the name of such a
   * Secret takes precedence.
   */
  addTo(store: ObjectSource & Statuses): ObjectSource & Statuses {
    const own = new Set<string>()
    const touched = new Set([...this.#issued.keys()].map(keyOfSecret))
    let notify = () => {}
    this.#changed = (key) => {
      touched.add(key)
      notify()
    }
    const secretOf = (key: string): ApiObject[] => {
      const found = own.has(key) ? undefined : this.#issued.get(key.slice(key.indexOf('/') + 1))
      return found === undefined ? [] : [toSecret(found)]
    }
    const takeChange = (): ObjectChange => {
      const change = store.takeChange()
      for (const object of change.set) if (object.kind === 'Secret') own.add(keyOf(object))
      for (const object of change.removed) if (own.delete(keyOf(object))) touched.add(keyOf(object))
      const added = [...touched].flatMap(secretOf)
      touched.clear()
      const replaced = new Set(added.map(keyOf))
      const removed = change.removed.filter((object) => !replaced.has(keyOf(object)))
      return { ...change, set: [...change.set, ...added], removed }
    }
    return {
      list: () => [...store.list(), ...[...this.#issued.keys()].map(keyOfSecret).flatMap(secretOf)],
      takeChange,
      subscribe(onChange) {
        notify = onChange
        return store.subscribe(onChange)
      },
      unknownProtection: () => store.unknownProtection(),
      problems: () => store.problems(),
      refusedEdits: () => store.refusedEdits(),
      statusOf: (key) => store.statusOf(key),
      writeStatuses: (writes) => store.writeStatuses(writes),
      close: () => store.close(),
    }
  }

  #replace(now: ReadonlyMap<string, Issued>): void {
    const before = this.#issued
    this.#issued = now
    for (const [secret, one] of now) {
      if (one.certificate !== before.get(secret)?.certificate) this.#changed(keyOfSecret(secret))
    }
  }

  #read(): ReadonlyMap<string, Issued> {
    const list = this.#files.read(CERTIFICATES_FILE, readIssued) ?? []
    return new Map(list.map((one) => [one.secret, one]))
  }

  /** Of two processes that make a key at the same time, one keeps it. */
  #openAccount(): AccountKey {
    const file = this.#files.pathOf(ACCOUNT_FILE)
    const found = readIfPresent(file)
    if (found !== undefined) return readAccount(file, found)
    const key = AccountKey.create()
    const unfinished = `${file}.${process.pid}`
    writeFileSync(unfinished, key.pem, { mode: 0o600 })
    try {
      linkSync(unfinished, file)
      return key
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      return readAccount(file, readFileSync(file, 'utf8'))
    } finally {
      rmSync(unfinished)
    }
  }
}

function keyOfSecret(secret: string): string {
  const slash = secret.indexOf('/')
  return objectKey('Secret', secret.slice(0, slash), secret.slice(slash + 1))
}

function toSecret({ secret, certificate, key }: Issued): ApiObject {
  const slash = secret.indexOf('/')
  const namespace = secret.slice(0, slash)
  const name = secret.slice(slash + 1)
  const data = { 'tls.crt': btoa(certificate), 'tls.key': btoa(key) }
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, type: 'kubernetes.io/tls', data }
  return { ...object, origin: { kind: 'Secret', namespace, name } }
}

/** @throws Error if the text is something else, or a pair cannot be used; it contains no value */
function readIssued(text: string): readonly Issued[] {
  const list = parseJson(text)
  if (!Array.isArray(list)) throw new Error('it has no list of certificates')
  for (const one of list as readonly Partial<Issued>[]) {
    const { secret, directory, hostnames, certificate, key } = one
    const texts = [secret, directory, certificate, key]
    if (texts.some((value) => typeof value !== 'string') || !Array.isArray(hostnames)) {
      throw new Error('it has an entry that is not a certificate')
    }
    const fault = TLS_MATERIAL.pairFault(certificate!, key!)
    if (fault !== undefined) throw new Error(`${secret}: ${fault}`)
  }
  return list as readonly Issued[]
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** @throws Error without the content of the file */
function readAccount(file: string, pem: string): AccountKey {
  try {
    return AccountKey.read(pem)
  } catch {
    throw new Error(`${file} has no key of an account; remove it, and a new account is made`)
  }
}
