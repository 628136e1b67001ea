/** A service of a vendor as a destination of calls: its host follows from its settings. Backend policies are those of the guard. */
export type GuardServiceSpec =
  | { readonly service: 'moderationEndpoint' }
  | { readonly service: 'guardrailsServiceOne'; readonly region: string }
  | { readonly service: 'guardrailsServiceTwo'; readonly location: string }
