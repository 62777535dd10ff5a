import {
  type Address,
  appendTransactionMessageInstructions,
  type Base64EncodedWireTransaction,
  type Blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'

/** The signed transaction of these instructions, as base64. `tables`: the addresses of lookup tables, by table. */
export async function signInstructions(
  payer: KeyPairSigner,
  blockhash: Blockhash,
  instructions: readonly Instruction[],
  tables: Record<Address, Address[]> = {},
): Promise<Base64EncodedWireTransaction> {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayerSigner(payer, one),
    (one) => setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight: 0n }, one),
    (one) => appendTransactionMessageInstructions(instructions, one),
    (one) => compressTransactionMessageUsingAddressLookupTables(one, tables),
  )
  return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
}
