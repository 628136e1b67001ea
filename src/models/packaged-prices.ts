import { findProvider } from '@pydantic/genai-prices'
import { packPrices } from './package-prices.ts'
import type { PackedVendor } from './price-book.ts'

/** The prices of the price package. The bundle contains them instead of the package, which takes 13 MB of memory (`build/bundle.mjs`). */
export const PACKAGED_PRICES: readonly PackedVendor[] = packPrices(findProvider)
