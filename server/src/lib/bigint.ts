export { absolute, divideUp, largest, smallest, squareRoot, U64_MAX, U128_MAX } from '@swapyard/lib/bigint.ts'
