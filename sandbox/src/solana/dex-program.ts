import type { Address, MaybeEncodedAccount } from '@solana/kit'

export type ReadAccount = (address: Address) => MaybeEncodedAccount

/** Only these accounts signed the transaction. The program must check them: nothing after it does. */
export type DexInstruction = Readonly<{
  accounts: readonly Address[]
  data: Uint8Array
  signers: ReadonlySet<Address>
}>

/** A transfer that the program asks the token program for. The pool's authority signs for its own accounts. */
export type DexTransfer = Readonly<{
  tokenProgram: Address
  source: Address
  mint: Address
  destination: Address
  authority: Address
  units: bigint
}>

/** What an instruction does, or the program's error code. */
export type DexOutcome =
  | Readonly<{ error: number }>
  | Readonly<{ error: null; transfers: readonly DexTransfer[]; writes: ReadonlyMap<Address, Uint8Array> }>

/** A program whose binary is not available: its maths on the data of real accounts. */
export type DexProgram = Readonly<{
  address: Address
  execute(
    instruction: DexInstruction,
    read: ReadAccount,
    clock: Readonly<{ unixTime: bigint; epoch: bigint }>,
  ): DexOutcome
}>
