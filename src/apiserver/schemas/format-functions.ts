import { define, HostObject, Optional, type Overload } from '#cel/index.ts'
import { hasFormat } from './formats.ts'
import {
  formProblem,
  LABEL_NAME,
  LABEL_VALUE,
  type NameForm,
  QUALIFIED_NAME,
  SERVICE_NAME,
  SUBDOMAIN_NAME,
} from './name-forms.ts'

/** Why a text has not a format; undefined if it has. */
type Check = (text: string) => string | undefined

const form =
  (expected: NameForm): Check =>
  (text) =>
    formProblem(text, expected)
/** A prefix may end with a hyphen; Kubernetes looks at neither it nor the character before it. */
const prefixOf =
  (expected: NameForm): Check =>
  (text) =>
    formProblem(text.replace(/.-$/s, 'a'), expected)
const format =
  (name: string, problem: string): Check =>
  (text) =>
    hasFormat(text, name) ? undefined : problem

const CHECKS: Readonly<Record<string, Check>> = {
  dns1123Label: form(LABEL_NAME),
  dns1123Subdomain: form(SUBDOMAIN_NAME),
  dns1035Label: form(SERVICE_NAME),
  qualifiedName: form(QUALIFIED_NAME),
  dns1123LabelPrefix: prefixOf(LABEL_NAME),
  dns1123SubdomainPrefix: prefixOf(SUBDOMAIN_NAME),
  dns1035LabelPrefix: prefixOf(SERVICE_NAME),
  labelValue: form(LABEL_VALUE),
  uri: format('uri', 'invalid URI for request'),
  uuid: format('uuid', 'does not match the UUID format'),
  byte: format('byte', 'invalid base64'),
  date: format('date', 'invalid date'),
  datetime: format('datetime', 'invalid datetime'),
}

const TYPE = 'kubernetes.NamedFormat'

class NamedFormat extends HostObject {
  readonly typeName = TYPE
  readonly check: Check

  constructor(check: Check) {
    super()
    this.check = check
  }
}

const FORMATS = new Map(Object.entries(CHECKS).map(([name, check]) => [name, new NamedFormat(check)]))

/** Functions of named formats (Kubernetes, "CEL: Kubernetes format library"). */
export const FORMAT_FUNCTIONS: readonly Overload[] = [
  ...[...FORMATS].map(([name, named]) => define(`format.${name}() -> ${TYPE}`, () => named)),
  define(`format.named(string) -> optional_type(${TYPE})`, (name: string) => {
    const named = FORMATS.get(name)
    return named === undefined ? Optional.none : new Optional(named)
  }),
  define(`(${TYPE}).validate(string) -> optional_type(list(string))`, ({ check }: NamedFormat, text: string) => {
    const problem = check(text)
    return problem === undefined ? Optional.none : new Optional([problem])
  }),
]
