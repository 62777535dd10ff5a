import type { PaidFee } from '../swap-chain.ts'
import type { NewSwap } from './swaps.ts'

/** A fee of a swap that nothing ties to a partner. Addresses in canonical form. */
export type UnclaimedFee = PaidFee &
  Readonly<{
    network: string
    /** null = the coin, by way of another contract: no event says who got it. */
    feeTo: string | null
  }>

export type FeeScanResult = Readonly<{
  /** Swaps of partners that nobody told of; those with a row keep it. */
  swaps: readonly NewSwap[]
  unclaimed: readonly UnclaimedFee[]
}>

/** What the search for fees of untold swaps knows. */
export interface SwapFeeStore {
  /** The newest block of a network that was searched; where none was, `first` from now on. */
  searched(network: string, first: number): Promise<number>
  /** Those of the hashes that have no row. */
  untold(network: string, hashes: readonly string[]): Promise<ReadonlySet<string>>
  /** What was found in the blocks after `from` up to `to`, and that they were searched: together, or not at all where another process was faster. */
  keep(network: string, range: Readonly<{ from: number; to: number }>, finds: FeeScanResult): Promise<boolean>
  /** Goes back, to search again what came after a block. False where nothing was searched beyond it. */
  searchAgain(network: string, height: number): Promise<boolean>
  /** Newest first. */
  unclaimed(limit: number): Promise<readonly UnclaimedFee[]>
  partnerIds(): Promise<readonly string[]>
}
