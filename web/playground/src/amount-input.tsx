/** An amount as decimal text; the quote says what is wrong with it. */
export const AmountInput = (props: Readonly<{ label: string; value: string; onChange(amount: string): void }>) => (
  <label>
    {props.label}
    <input
      inputMode="decimal"
      autoComplete="off"
      value={props.value}
      onChange={(event) => props.onChange(event.target.value.trim())}
    />
  </label>
)
