import type { RouteType } from './route-type.ts'

/** What the gateway reads of `backend.ai` (specification 2, 2.4); the schema lives above this room, its type fits this. */
export interface AiSettingsSpec {
  readonly prompt?: PromptSpec | undefined
  readonly promptGuard?: PromptGuardSpec | undefined
  readonly defaults?: readonly FieldValueSpec[] | undefined
  readonly overrides?: readonly FieldValueSpec[] | undefined
  readonly transformations?: readonly { readonly field: string; readonly expression: string }[] | undefined
  readonly modelAliases?: Readonly<Record<string, string>> | undefined
  readonly promptCaching?: object | undefined
  readonly routes?: Readonly<Record<string, RouteType>> | undefined
}

export interface FieldValueSpec {
  readonly field: string
  /** Any JSON. */
  readonly value: unknown
}

export interface PromptSpec {
  readonly prepend?: readonly PromptMessage[] | undefined
  readonly append?: readonly PromptMessage[] | undefined
}

export interface PromptMessage {
  readonly role: string
  readonly content: string
}

export interface PromptGuardSpec {
  readonly request?: readonly GuardSpec[] | undefined
  readonly response?: readonly GuardSpec[] | undefined
}

/** Exactly one of the guard kinds is set. */
export interface GuardSpec {
  readonly regex?: RegexGuardSpec | undefined
  readonly webhook?: object | undefined
  readonly moderationEndpoint?: object | undefined
  readonly guardrailsServiceOne?: object | undefined
  readonly guardrailsServiceTwo?: object | undefined
  readonly response?: { readonly message?: string | undefined; readonly statusCode?: number | undefined } | undefined
}

export interface RegexGuardSpec {
  readonly matches?: readonly string[] | undefined
  readonly builtins?: readonly ('Ssn' | 'CreditCard' | 'PhoneNumber' | 'Email' | 'CaSin')[] | undefined
  readonly action: 'Mask' | 'Reject'
}
