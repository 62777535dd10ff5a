/** Errors of Meteora DLMM's swap instructions by the program's names. */
export const DLMM_ERROR = {
  /** Of the token program: the host fee account is not of the fee's token. */
  mintMismatch: 3,
  /** A bin array of the path is not among the accounts of the instruction. */
  accountNotEnoughKeys: 3005,
  invalidInput: 6002,
  exceededAmountSlippageTolerance: 6003,
  bitmapExtensionAccountIsNotProvided: 6036,
  cannotFindNonZeroLiquidityBinArrayId: 6037,
  insufficientOutAmount: 6039,
  poolDisabled: 6042,
  undeterminedError: 6085,
  insufficientInAmount: 6104,
  /* The recorded swaps do not show the codes from here on; they follow the public error lists of the token program and the program. */
  insufficientFunds: 1,
  mathOverflow: 6018,
} as const
