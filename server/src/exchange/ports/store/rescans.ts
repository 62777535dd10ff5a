/** A range of recorded blocks that is read again, from every node. */
export type Rescan = Readonly<{
  id: string
  network: string
  /** The next block; above `toHeight` when all are read. */
  nextHeight: number
  toHeight: number
  /** Deposits that were found. */
  found: number
  /** Why the next block could not be read at the last attempt. */
  failure: string | null
  hasEnded: boolean
}>

export interface RescanStore {
  /** Null: the network has a rescan that has not ended. */
  begin(network: string, from: number, to: number): Promise<Rescan | null>
  find(id: string): Promise<Rescan | null>
  /** The rescan of a network that has not ended. */
  findOpen(network: string): Promise<Rescan | null>
  /** Counts a block as read. Another worker may have counted it already. */
  recordBlock(id: string, height: number, found: number): Promise<void>
  /** The rescan ends after `failuresMax` failures in a row. */
  recordFailure(id: string, failure: string, failuresMax: number): Promise<void>
}
