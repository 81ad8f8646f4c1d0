//! An image's sizes and functions, read from the file that the linker made, a 32-bit ELF.

/// The file of an image.
pub(super) struct Elf<'a>(&'a [u8]);

/// The header of a section, as far as this module needs it.
struct Section {
    kind: u32,
    flags: u32,
    at: usize,
    size: usize,
    /// In the header of a symbol table, the section of its strings.
    link: usize,
}

const SYMBOLS: u32 = 2;
const NOBITS: u32 = 8;
const WRITE: u32 = 1;
const ALLOC: u32 = 2;
const HEADER: usize = 40;
const SYMBOL: usize = 16;
const FUNCTION: u8 = 2;

impl<'a> Elf<'a> {
    /// Reads the file. `None` if it is not a 32-bit ELF.
    pub(super) fn new(file: &'a [u8]) -> Option<Self> {
        file.starts_with(b"\x7fELF\x01\x01").then_some(Self(file))
    }

    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }

    fn half(&self, at: usize) -> Option<usize> {
        Some(usize::from(u16::from_le_bytes(self.0.get(at..at + 2)?.try_into().ok()?)))
    }

    fn section(&self, index: usize) -> Option<Section> {
        let header = self.word(0x20)? as usize + index * HEADER;
        let [kind, flags, at, size, link] = [4, 8, 16, 20, 24].map(|offset| self.word(header + offset));
        Some(Section { kind: kind?, flags: flags?, at: at? as usize, size: size? as usize, link: link? as usize })
    }

    fn sections(&self) -> Option<Vec<Section>> {
        (0..self.half(0x30)?).map(|index| self.section(index)).collect()
    }

    /// The bytes of flash and of static RAM. Initialised data take both.
    pub(super) fn sizes(&self) -> Option<(i64, i64)> {
        let (mut flash, mut ram) = (0, 0);
        for Section { kind, flags, size, .. } in self.sections()? {
            if flags & ALLOC != 0 && kind != NOBITS {
                flash += size as i64;
            }
            if flags & (ALLOC | WRITE) == ALLOC | WRITE {
                ram += size as i64;
            }
        }
        Some((flash, ram))
    }

    /// The functions of a crate that were not inlined, with their sizes, the largest first.
    pub(super) fn functions_of(&self, krate: &str) -> Option<Vec<(String, i64)>> {
        let mut functions = Vec::new();
        for table in self.sections()?.iter().filter(|section| section.kind == SYMBOLS) {
            let names = self.section(table.link)?;
            for symbol in (table.at..table.at + table.size).step_by(SYMBOL) {
                let size = i64::from(self.word(symbol + 8)?);
                let name = self.0.get(names.at + self.word(symbol)? as usize..)?.split(|&byte| byte == 0).next()?;
                let path = path(str::from_utf8(name).ok()?);
                if self.0.get(symbol + 12)? & 0xf == FUNCTION && size > 0 && path.first() == Some(&krate) {
                    functions.push(((*path.last()?).to_owned(), size));
                }
            }
        }
        functions.sort_by(|(a_name, a), (b_name, b)| b.cmp(a).then(a_name.cmp(b_name)));
        Some(functions)
    }
}

/// The parts of a mangled name, without the hash at its end. Empty if the name is not mangled.
fn path(mangled: &str) -> Vec<&str> {
    let mut rest = mangled.strip_prefix("_ZN").unwrap_or_default();
    let mut parts = Vec::new();
    while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|&digits| digits > 0) {
        let (length, more) = rest.split_at(digits);
        let Some((part, more)) = length.parse().ok().and_then(|length| more.split_at_checked(length)) else { break };
        parts.push(part);
        rest = more;
    }
    parts.pop();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these sections: kind, flags, size.
    fn elf(sections: &[(u32, u32, u32)]) -> Vec<u8> {
        let mut file = vec![0; 0x34];
        file[..6].copy_from_slice(b"\x7fELF\x01\x01");
        file[0x20] = 0x34;
        file[0x30] = sections.len() as u8;
        for &(kind, flags, size) in sections {
            let mut section = [0; HEADER];
            section[4..8].copy_from_slice(&kind.to_le_bytes());
            section[8..12].copy_from_slice(&flags.to_le_bytes());
            section[20..24].copy_from_slice(&size.to_le_bytes());
            file.extend(section);
        }
        file
    }

    fn sizes(file: &[u8]) -> Option<(i64, i64)> {
        Elf::new(file)?.sizes()
    }

    #[test]
    fn initialised_data_take_flash_and_ram() {
        let (text, data, bss, debug) = ((1, 6, 1000), (1, 3, 20), (8, 3, 300), (1, 0, 9999));
        assert_eq!(sizes(&elf(&[text, data, bss, debug])), Some((1020, 320)));
        assert_eq!(sizes(b"\x7fELF\x02\x01"), None);
        assert_eq!(sizes(&elf(&[text])[..60]), None);
    }

    #[test]
    fn functions_are_told_by_their_crate() {
        let names = b"\0_ZN4krat4wait4poll17h0123456789abcdefE\0_ZN5other4poll17h0123456789abcdefE\0main\0";
        let mut file = elf(&[(SYMBOLS, 0, 3 * SYMBOL as u32), (3, 0, names.len() as u32)]);
        let at = file.len() as u32;
        for (header, at) in [(0x34, at), (0x34 + HEADER, at + 3 * SYMBOL as u32)] {
            file[header + 16..header + 20].copy_from_slice(&at.to_le_bytes());
        }
        file[0x34 + 24] = 1;
        let second = names.iter().rposition(|&byte| byte == b'_').expect("a name") as u32;
        let third = names.len() as u32 - 5;
        for (name, size) in [(1_u32, 40_u32), (second, 50), (third, 60)] {
            file.extend(name.to_le_bytes());
            file.extend([0; 4]);
            file.extend(size.to_le_bytes());
            file.extend([FUNCTION, 0, 0, 0]);
        }
        file.extend(names);
        let elf = Elf::new(&file).expect("the file begins like an ELF");
        assert_eq!(elf.functions_of("krat"), Some(vec![("poll".to_owned(), 40)]));
        assert_eq!(elf.functions_of("none"), Some(Vec::new()));
    }
}
