/** Whether a socket accepts connections (decision A-34). */
export type Binding =
  | { readonly state: 'bound' }
  /** `reason`: CamelCase, such as `PortUnavailable`. */
  | { readonly state: 'failed'; readonly reason: string; readonly message: string }
