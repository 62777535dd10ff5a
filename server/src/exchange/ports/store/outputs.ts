/** The unspent outputs of a wallet of the bitcoin family, as a whole. */
export interface OutputStore {
  /**
   * Outputs of at least this amount that payouts can spend now or soon: in a block and not reserved, and one for the change of
   * each transaction that is in no block.
   */
  countUseful(network: string, minUnits: bigint): Promise<number>
  /** Sum of the outputs that are in a block and not reserved by a transaction. */
  freeUnits(network: string): Promise<bigint>
  /** Voids the consolidations that were planned longer ago than this and are not signed. Returns their ids. */
  voidOverdueConsolidations(network: string, afterMs: number): Promise<readonly string[]>
  /** Whether a split or consolidation is not confirmed, or was planned within this time. */
  isPlanned(network: string, withinMs: number): Promise<boolean>
}
