import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installedProgram } from '../counterparts.ts'

/** What a certificate says. */
export interface CertificateOrder {
  /** Value of `subjectAltName`, as `DNS:a.test, IP:127.0.0.1`; none if it is empty. */
  readonly names: string
  /** Common name of the subject; by default the name of the file. */
  readonly commonName?: string
  /** Value of `extendedKeyUsage`; default: `serverAuth`. */
  readonly usage?: string
  /** Validity in days from now, which may be over; default: 1. */
  readonly days?: number
  /** Words of `openssl req` that choose the key; default: P-256. */
  readonly key?: readonly string[]
}

/** Paths of a PEM certificate and its key. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

const P256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']

/** A certification authority of the command `openssl`. */
export class Authority implements Certificate {
  readonly cert: string
  readonly key: string
  readonly #openssl: string
  readonly #folder: string

  private constructor(openssl: string, folder: string, { cert, key }: Certificate) {
    this.#openssl = openssl
    this.#folder = folder
    this.cert = cert
    this.key = key
  }

  /** Makes a root whose files are in the folder. */
  static root(folder: string, name: string): Authority {
    const openssl = installedProgram('openssl', 'openssl')
    mkdirSync(folder, { recursive: true })
    const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)]
    const subject = ['-subj', `/CN=${name}`, '-days', '2', '-keyout', key, '-out', cert]
    const extensions = ['-addext', 'keyUsage=critical,digitalSignature,keyCertSign,cRLSign']
    execFileSync(openssl, ['req', '-x509', '-nodes', ...P256, ...subject, ...extensions], { stdio: 'pipe' })
    return new Authority(openssl, folder, { cert, key })
  }

  /** An authority that this one signed. */
  intermediate(name: string): Authority {
    const extensions = ['basicConstraints=critical,CA:TRUE,pathlen:0', 'keyUsage=critical,keyCertSign,cRLSign']
    return new Authority(this.#openssl, this.#folder, this.#sign(name, { names: '' }, extensions))
  }

  /** Signs with any certificate, even that of a server. */
  signingWith(certificate: Certificate): Authority {
    return new Authority(this.#openssl, this.#folder, certificate)
  }

  /** Signs the certificate of a server or client. */
  issue(name: string, order: CertificateOrder): Certificate {
    const names = order.names === '' ? [] : [`subjectAltName=${order.names}`]
    return this.#sign(name, order, [`extendedKeyUsage=${order.usage ?? 'serverAuth'}`, ...names])
  }

  get pem(): string {
    return readFileSync(this.cert, 'utf8')
  }

  #sign(name: string, order: CertificateOrder, extensions: readonly string[]): Certificate {
    const path = (end: string) => join(this.#folder, `${name}.${end}`)
    const [cert, key, request, lines] = [path('pem'), path('key'), path('csr'), path('ext')]
    const subject = ['-subj', `/CN=${order.commonName ?? name}`]
    const run = (...words: readonly string[]) => execFileSync(this.#openssl, words, { stdio: 'pipe' })
    run('req', '-new', '-nodes', ...(order.key ?? P256), ...subject, '-keyout', key, '-out', request)
    writeFileSync(lines, extensions.join('\n'))
    const issuer = ['-CA', this.cert, '-CAkey', this.key, '-CAcreateserial', '-extfile', lines]
    run('x509', '-req', '-in', request, ...issuer, '-days', `${order.days ?? 1}`, '-out', cert)
    return { cert, key }
  }
}

/** Writes a certificate and the intermediates that a server sends with it. @returns the file */
export function chainFile(certificate: Certificate, ...more: readonly Certificate[]): string {
  const file = certificate.cert.replace(/\.pem$/, '.chain.pem')
  writeFileSync(file, [certificate.cert, ...more.map(({ cert }) => cert)].map((path) => readFileSync(path)).join(''))
  return file
}
