//! Uses of modules by modules, read from the sources of a crate: a name counts for the file that defines
//! it, through any number of re-exports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Path of a module, without the crate.
pub type Module = Vec<String>;
/// Modules used by each module.
pub type Uses = BTreeMap<Module, BTreeSet<Module>>;

/// Keywords before the name of an item.
const ITEMS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

/// An imported name.
struct Import {
    path: Vec<String>,
    name: String,
}

/// A file.
#[derive(Default)]
struct File {
    imports: Vec<Import>,
    items: BTreeSet<String>,
    /// Paths of at least two names, and single names, outside of imports.
    paths: BTreeSet<Vec<String>>,
    names: BTreeSet<String>,
}

/// The modules of a crate.
pub struct Modules(BTreeMap<Module, File>);

impl Modules {
    /// Reads all files below a folder with `lib.rs` or `main.rs`.
    pub fn read(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        read_folder(root, root, &mut files);
        Self(files)
    }

    /// Modules from texts, as in `("a/b", "use super::c;")`.
    pub fn of(texts: &[(&str, &str)]) -> Self {
        let module =
            |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Self(texts.iter().map(|(path, text)| (module(path), File::parse(text))).collect())
    }

    /// Modules used by each module, except for the crate's root.
    pub fn uses(&self) -> Uses {
        let of = |module: &Module| (module.clone(), self.used_by(module));
        self.0.keys().filter(|module| !module.is_empty()).map(of).collect()
    }

    fn used_by(&self, module: &Module) -> BTreeSet<Module> {
        let file = &self.0[module];
        let (mut used, mut aliases) = (BTreeSet::new(), BTreeMap::new());
        for import in &file.imports {
            let Some(path) = self.absolute(module, &import.path) else { continue };
            // A name that is only passed on belongs to those who use it.
            if file.names.contains(&import.name) {
                used.extend(self.owner(&path, 0));
            }
            if self.0.contains_key(&path) {
                aliases.insert(import.name.clone(), path);
            }
        }
        for path in &file.paths {
            let absolute = match aliases.get(&path[0]) {
                Some(alias) => Some([alias, &path[1..]].concat()),
                None => self.absolute(module, path),
            };
            used.extend(absolute.and_then(|path| self.owner(&path, 0)));
        }
        used.retain(|other| other != module && !other.is_empty());
        used
    }

    /// Path from the crate's root; `None` for one of another crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let mut base = module.clone();
        let mut rest = path;
        match path[0].as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            child => {
                let own = [base.as_slice(), &[child.to_owned()]].concat();
                self.0.contains_key(&own).then_some(())?;
            }
        }
        Some([base.as_slice(), rest].concat())
    }

    /// The module that defines the item of a path.
    fn owner(&self, path: &[String], depth: usize) -> Option<Module> {
        let length = (0..=path.len()).rev().find(|&length| self.0.contains_key(&path[..length]))?;
        let (module, rest) = (path[..length].to_vec(), &path[length..]);
        let file = &self.0[&module];
        let Some(name) = rest.first().filter(|name| !file.items.contains(*name)) else { return Some(module) };
        let import = file.imports.iter().find(|import| import.name == *name).filter(|_| depth < 16);
        match import.and_then(|import| self.absolute(&module, &import.path)) {
            Some(origin) => self.owner(&[origin.as_slice(), &rest[1..]].concat(), depth + 1),
            None => Some(module),
        }
    }
}

fn read_folder(root: &Path, folder: &Path, files: &mut BTreeMap<Module, File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_folder(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let inside = path.strip_prefix(root).unwrap().with_extension("");
            let mut module: Module = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if ["mod", "lib", "main"].contains(&module[module.len() - 1].as_str()) {
                module.pop();
            }
            files.insert(module, File::parse(&fs::read_to_string(&path).unwrap()));
        }
    }
}

impl File {
    fn parse(text: &str) -> Self {
        let tokens = tokens(text);
        let mut file = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            match tokens[at].as_str() {
                "use" => at = file.take_import(&tokens, at + 1, &[]) + 1,
                "pub" if tokens.get(at + 1).is_some_and(|next| next == "(") => {
                    at += tokens[at..].iter().position(|token| token == ")").unwrap_or(0) + 1;
                }
                token if ITEMS.contains(&token) => {
                    let name = tokens[at + 1..].iter().find(|token| is_name(token) && *token != "mut");
                    file.items.extend(name.cloned());
                    at += 1;
                }
                token if is_name(token) => {
                    let mut path = vec![token.to_owned()];
                    while tokens.get(at + 1).is_some_and(|next| next == "::")
                        && tokens.get(at + 2).is_some_and(|next| is_name(next))
                    {
                        path.push(tokens[at + 2].clone());
                        at += 2;
                    }
                    file.names.insert(path[0].clone());
                    if path.len() > 1 {
                        file.paths.insert(path);
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
        file
    }

    /// Reads one tree of an import behind a prefix; returns the index of the token that ends it.
    fn take_import(&mut self, tokens: &[String], mut at: usize, prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        loop {
            match tokens.get(at).map_or(";", String::as_str) {
                "{" => loop {
                    at = self.take_import(tokens, at + 1, &path);
                    match tokens.get(at).map_or(";", String::as_str) {
                        "," => {}
                        "}" => return at + 1,
                        _ => return at,
                    }
                },
                "as" => {
                    self.imports.push(Import { path, name: tokens[at + 1].clone() });
                    return at + 2;
                }
                "::" | "*" => at += 1,
                "self" if !path.is_empty() => at += 1,
                token if is_name(token) => {
                    path.push(token.to_owned());
                    at += 1;
                }
                _ => {
                    if let Some(name) = path.last().cloned().filter(|_| path.len() > prefix.len().min(1)) {
                        self.imports.push(Import { path, name });
                    }
                    return at;
                }
            }
        }
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// Names, `::` and signs, without comments, strings and the tests at the end of a file.
fn tokens(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let letters: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        let next = letters.get(at + 1);
        match letters[at] {
            '/' if next == Some(&'/') => at += until(&letters[at..], '\n'),
            '"' => {
                at += 1;
                while at < letters.len() && letters[at] != '"' {
                    at += if letters[at] == '\\' { 2 } else { 1 };
                }
                at += 1;
            }
            // A character, or a lifetime.
            '\'' if next == Some(&'\\') => at += 3 + until(&letters[at + 3..], '\''),
            '\'' if letters.get(at + 2) == Some(&'\'') => at += 3,
            ':' if next == Some(&':') => {
                tokens.push("::".to_owned());
                at += 2;
            }
            letter if letter.is_alphanumeric() || letter == '_' => {
                let end = letters[at..].iter().take_while(|l| l.is_alphanumeric() || **l == '_').count();
                tokens.push(letters[at..at + end].iter().collect());
                at += end;
            }
            letter => {
                if !letter.is_whitespace() {
                    tokens.push(letter.to_string());
                }
                at += 1;
            }
        }
    }
    tokens
}

/// Number of letters up to and with a given one.
fn until(letters: &[char], last: char) -> usize {
    letters.iter().position(|letter| *letter == last).map_or(letters.len(), |place| place + 1)
}

/// Groups of modules that use each other in a circle.
pub fn circles(uses: &Uses) -> Vec<BTreeSet<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        uses.keys().map(|module| (module, reachable(uses, module))).collect();
    let circle = |module: &Module| -> BTreeSet<Module> {
        let both = |other: &&Module| reached.get(other).is_some_and(|back| back.contains(module));
        reached[module].iter().filter(both).cloned().collect()
    };
    let found: BTreeSet<BTreeSet<Module>> =
        uses.keys().filter(|module| reached[module].contains(*module)).map(circle).collect();
    found.into_iter().collect()
}

fn reachable(uses: &Uses, from: &Module) -> BTreeSet<Module> {
    let (mut found, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(module) = left.pop() {
        for next in uses.get(module).into_iter().flatten() {
            if found.insert(next.clone()) {
                left.push(next);
            }
        }
    }
    found
}

/// Uses between the entries of each folder: every file counts for the entry that it stands in.
pub fn uses_of_entries(uses: &Uses) -> Uses {
    let mut entries = Uses::new();
    for (module, others) in uses {
        for other in others {
            let shared = module.iter().zip(other).take_while(|(own, name)| own == name).count();
            if shared < module.len() && shared < other.len() {
                let [own, used] = [module, other].map(|path| path[..=shared].to_vec());
                entries.entry(own).or_default().insert(used);
            }
        }
    }
    entries
}
