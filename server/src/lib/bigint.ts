export { absolute, divideUp, largest, smallest, U64_MAX, U128_MAX } from '@swapyard/lib/bigint.ts'
