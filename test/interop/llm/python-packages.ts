/** The clients of two vendors in Python, whose types are also used by test/conformance/llm. */
export const VENDOR_PACKAGES = ['openai==3.54.0', 'anthropic==2.12.0'] as const
