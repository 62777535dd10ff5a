import { Button, Group, NativeSelect, TextInput } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import { readForm } from '../session/login-page.tsx'

export type Filter = Readonly<{
  /** Member of the query. */
  name: string
  label: string
  /** A choice of these; otherwise a text. */
  options?: readonly string[]
  /** HTML type of the text. */
  type?: 'text' | 'date'
  /** Used where the URL has none. */
  initial?: string
  isRequired?: boolean
  placeholder?: string
  width?: number
}>

export const readFilters = (search: URLSearchParams, filters: readonly Filter[]): Record<string, string | null> =>
  Object.fromEntries(filters.map(({ name, initial = null }) => [name, search.get(name) ?? initial]))

/** The form changes the URL; the list reads it. The key of the form is the URL, so going back changes its inputs. */
export function Filters({ filters, children }: Readonly<{ filters: readonly Filter[]; children: ReactNode }>) {
  const [search, setSearch] = useSearchParams()
  if (filters.length === 0) return <Group gap="sm">{children}</Group>
  const apply = (form: HTMLFormElement) => {
    const given = readForm(form)
    const others = [...search].filter(([name]) => name !== 'cursor' && filters.every((filter) => filter.name !== name))
    setSearch(new URLSearchParams([...others, ...Object.entries(given).map(([name, value]) => [name, value.trim()])]))
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    apply(event.currentTarget)
  }
  const clear = () => setSearch((current) => new URLSearchParams([...current].filter(([name]) => !isOf(filters, name))))
  const isFiltered = filters.some(({ name }) => search.has(name))
  return (
    <form onSubmit={submit} key={search.toString()} aria-label="Filters">
      <Group align="flex-end" gap="sm">
        {filters.map((filter) => (
          <FilterInput key={filter.name} filter={filter} value={search.get(filter.name) ?? filter.initial ?? ''} />
        ))}
        <Button type="submit">Search</Button>
        {isFiltered && (
          <Button variant="default" onClick={clear}>
            Clear
          </Button>
        )}
        {children}
      </Group>
    </form>
  )
}

const isOf = (filters: readonly Filter[], name: string): boolean =>
  name === 'cursor' || filters.some((filter) => filter.name === name)

function FilterInput({ filter, value }: Readonly<{ filter: Filter; value: string }>) {
  const { name, label, options, type = 'text', isRequired = false, placeholder, width } = filter
  if (options) {
    const data = isRequired ? [...options] : [{ value: '', label: 'any' }, ...options]
    return (
      <NativeSelect
        name={name}
        label={label}
        defaultValue={value}
        data={data}
        onChange={(event) => event.currentTarget.form?.requestSubmit()}
      />
    )
  }
  return (
    <TextInput
      name={name}
      label={label}
      type={type}
      defaultValue={value}
      required={isRequired}
      withAsterisk={false}
      maxLength={300}
      w={width}
      maw="100%"
      {...(placeholder === undefined ? {} : { placeholder })}
    />
  )
}
