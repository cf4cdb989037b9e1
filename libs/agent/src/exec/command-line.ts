/** A word of a command as the shell makes it, quotes taken away; variables and globs stand as they were written. */
export interface Word {
  text: string;
  /** An unquoted `*`, `?` or `[`. */
  isGlob: boolean;
}

/** A command line as far as it is looked at before it runs. */
export interface CommandLine {
  /** Program and arguments of each simple command, in order. */
  commands: Word[][];
  /** What makes it impossible to say what will run. */
  risks: string[];
}

const OPERATORS = new Set(['|', '&', ';', '\n', '<', '>', '(', ')']);

/**
 * Reads a command line for `sh`. It does not follow everything a shell can do: what it does not follow is a risk.
 * @returns null when no shell could read it either: a quote is open, or there is nothing
 */
export function readCommandLine(text: string): CommandLine | null {
  if (text.trim() === '' || text.includes('\0')) return null;
  return new Reader(text).read();
}

class Reader {
  private at = 0;
  private readonly commands: Word[][] = [];
  private command: Word[] = [];
  private word: Word | null = null;
  private readonly risks = new Set<string>();

  constructor(private readonly text: string) {}

  read(): CommandLine | null {
    while (this.at < this.text.length) {
      if (!this.readNext()) return null;
    }
    this.endCommand();
    if (this.commands.length === 0) return null;
    return { commands: this.commands, risks: [...this.risks] };
  }

  /** False when the text ends in the middle of something. */
  private readNext(): boolean {
    const char = this.text[this.at] ?? '';
    if (char === "'") return this.readSingleQuoted();
    if (char === '"') return this.readDoubleQuoted();
    if (char === '\\') return this.readEscaped();
    this.at++;
    if (char === '#' && this.word === null) this.skipComment();
    else if (char === ' ' || char === '\t' || char === '\r') this.endWord();
    else if (OPERATORS.has(char)) this.readOperator(char);
    else this.readPlain(char);
    return true;
  }

  private readPlain(char: string): void {
    if (char === '*' || char === '?' || char === '[') this.open().isGlob = true;
    if (char === '{' || char === '}') this.risks.add('grouping or brace expansion');
    this.noteExpansion(char);
    this.open().text += char;
  }

  private readOperator(char: string): void {
    const next = this.text[this.at];
    if (char === '<' || char === '>') {
      this.risks.add(next === '(' ? 'process substitution' : 'redirect');
      this.endWord();
      return;
    }
    if (char === '\n') this.risks.add('several lines');
    if (char === '(' || char === ')') this.risks.add('grouping or brace expansion');
    if (char === '&' && next !== '&' && this.text[this.at - 2] !== '&')
      this.risks.add('background');
    this.endCommand();
  }

  private readSingleQuoted(): boolean {
    const end = this.text.indexOf("'", this.at + 1);
    if (end < 0) return false;
    this.open().text += this.text.slice(this.at + 1, end);
    this.at = end + 1;
    return true;
  }

  private readDoubleQuoted(): boolean {
    const word = this.open();
    for (this.at++; this.at < this.text.length; this.at++) {
      const char = this.text[this.at] ?? '';
      if (char === '"') {
        this.at++;
        return true;
      }
      if (char === '\\') this.at++;
      else this.noteExpansion(char, this.at + 1);
      word.text += this.text[this.at] ?? '';
    }
    return false;
  }

  private readEscaped(): boolean {
    const next = this.text[this.at + 1];
    if (next === undefined) return false;
    // A line that goes on in the next one.
    if (next !== '\n') this.open().text += next;
    this.at += 2;
    return true;
  }

  private noteExpansion(char: string, next = this.at): void {
    if (char === '`' || (char === '$' && this.text[next] === '(')) this.risks.add('substitution');
    else if (char === '$' && /[\w{@*#?$!-]/.test(this.text[next] ?? '')) this.risks.add('variable');
  }

  private skipComment(): void {
    while (this.at < this.text.length && this.text[this.at] !== '\n') this.at++;
  }

  private open(): Word {
    return (this.word ??= { text: '', isGlob: false });
  }

  private endWord(): void {
    if (this.word) this.command.push(this.word);
    this.word = null;
  }

  private endCommand(): void {
    this.endWord();
    if (this.command.length > 0) this.commands.push(this.command);
    this.command = [];
  }
}
