/** Forms of names (Kubernetes, "Object names and IDs"), with what an API server says of another one. */
export interface NameForm {
  readonly pattern: RegExp
  readonly maxLength: number
  readonly message: string
}

export const SERVICE_NAME: NameForm = {
  pattern: /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/,
  maxLength: 63,
  message:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
}
export const LABEL_NAME: NameForm = {
  pattern: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/,
  maxLength: 63,
  message:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
}
export const SUBDOMAIN_NAME: NameForm = {
  pattern: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/,
  maxLength: 253,
  message:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
}
/** Names of ports in Pods (RFC 6335, 5.1). */
export const PORT_NAME: NameForm = {
  pattern: /^(?=[-0-9]*[a-z])(?!.*--)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/,
  maxLength: 15,
  message: "must have at most 15 lower case alphanumeric characters or '-', with at least one letter",
}
export const ENTRY_NAME: NameForm = {
  pattern: /^(?!\.{1,2}$|\.\.)[-._a-zA-Z0-9]+$/,
  maxLength: 253,
  message: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
}
export const QUALIFIED_NAME: NameForm = {
  pattern:
    /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
  maxLength: 317,
  message:
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
}
export const LABEL_VALUE: NameForm = {
  pattern: /^(?:(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  maxLength: 63,
  message:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
}

function hasForm(name: string, { pattern, maxLength }: NameForm): boolean {
  return name.length <= maxLength && pattern.test(name)
}

/** Why a name has not the form; undefined if it has. */
export function formProblem(name: string, form: NameForm): string | undefined {
  if (name.length > form.maxLength) return `must be no more than ${form.maxLength} characters`
  return hasForm(name, form) ? undefined : form.message
}
