// The views that the documentation shows.
import Larder
import LarderSync
import SwiftUI

@Document
struct Contact: Identifiable, Equatable {
  var id: Int
  var name: String
  var city: String
}

/// Shows another city when it is made with one.
struct ContactList: View {
  @LiveQuery<Contact, Contact> private var contacts: Rows<Contact>

  init(_ repository: any Repository<Contact, Contact>, in city: String) {
    _contacts = LiveQuery(
      repository, Contact.where { $0.city == city }.sorted(by: \.name))
  }

  var body: some View {
    List(contacts) { Text($0.name) }
      .refreshable { await $contacts.refresh() }
  }
}

/// Sets the query itself.
struct ContactSearch: View {
  @LiveQuery<Contact, Contact> private var contacts: Rows<Contact>
  @State private var text = ""

  init(_ repository: any Repository<Contact, Contact>, updater: some Updater) {
    _contacts = LiveQuery(
      repository, Contact.all.sorted(by: \.name), refreshedBy: updater, animation: nil)
  }

  var body: some View {
    List(contacts) { Text($0.name) }
      .searchable(text: $text)
      .onChange(of: text) { _, text in
        $contacts.query = Contact.where { $0.name.hasPrefix(text) }.sorted(by: \.name)
      }
  }
}

/// One document.
struct ContactDetail: View {
  @State private var contact: KeyModel<Contact, Contact>

  init(_ repository: any Repository<Contact, Contact>, _ id: Contact.ID) {
    _contact = State(initialValue: StreamModel(repository, key: id))
  }

  var body: some View {
    Text(contact.value?.name ?? "")
  }
}
