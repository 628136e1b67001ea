import { stringify } from 'yaml'
import { REDACTED } from '#base/credential-names.ts'
import { KnownSecrets } from '#base/known-secrets.ts'

export interface SupportFile {
  /** Relative, with slashes. */
  readonly path: string
  readonly text: string
}

/** The user and the password in front of the host of a URL. */
const USER_INFO = /(?<=\b[a-z][a-z\d+.-]*:\/\/)[^\s/@?#"'<>]+@/gi

/** The files of a support archive, and what could not be read for it. */
export class SupportFiles {
  readonly #files: SupportFile[] = []
  readonly #missing: string[] = []

  add(path: string, text: string): void {
    this.#files.push({ path, text })
  }

  addYaml(path: string, value: unknown): void {
    this.add(path, stringify(value, { aliasDuplicateObjects: false }))
  }

  /** @param what cannot be read */
  miss(what: string, why: string): void {
    this.#missing.push(`${what}: ${why}`)
  }

  get missing(): readonly string[] {
    return this.#missing
  }

  /** All files. @param hide removes secrets */
  hidden(hide: (text: string) => string): readonly SupportFile[] {
    return this.#files.map(({ path, text }) => ({ path, text: hide(text) }))
  }
}

/** Removes the values of secrets, and credentials in URLs. @param secrets their values, as byte text */
export function secretsHider(secrets: Iterable<string>): (text: string) => string {
  const known = new KnownSecrets(secrets)
  return (text) => known.hide(text).replace(USER_INFO, `${REDACTED}@`)
}
